"""The official vocoder, as a plug-in of `cosykit.vocoders` like any other."""

from cosykit.config.schema import Settings
from cosykit.engines.cosyvoice.installed import find_installed
from cosykit.seams import Vocoder
from cosykit.synthesis.vocoder.graphs import HiftGraphs
from cosykit.synthesis.vocoder.hift import HiftVocoder


def open_vocoder(model: str, settings: Settings) -> Vocoder:
    """Load the vocoder of an installed model; the entry point `hift`.

    Raises:
        ModelLoadError: A graph is missing or broken.
    """
    installed = find_installed(model, settings)
    threads = installed.session.threads
    in_halves = installed.session.provider == "cpu" and threads > 1
    graphs = HiftGraphs(
        installed.open("pitch"),
        installed.open("source"),
        installed.open("vocoder", threads // 2 if in_halves else threads),
        in_halves=in_halves,
    )
    return HiftVocoder(graphs, as_upstream=settings.engine.schedule == "upstream")
