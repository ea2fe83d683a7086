"""What is installed of a model, and how it is going to be run here."""

from dataclasses import dataclass, replace

from cosykit.config.schema import Settings
from cosykit.errors import ModelLoadError
from cosykit.hub.bundle import Bundle, read_bundle
from cosykit.runtime.cores import usable_cores
from cosykit.runtime.kv_cache import KvCache, choose_kv_cache
from cosykit.runtime.precision import choose_level
from cosykit.runtime.providers import choose_provider
from cosykit.runtime.session import Session, SessionSettings, open_session
from cosykit.spec import GRAPHS_VERSION, GraphName, Level, ModelFacts


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that can be opened.

    Attributes:
        level: The precisions to run at.
        kv_cache: The type in which the language model remembers.
        session: How to open its graphs.
        reason: Why this provider and these precisions, and which cache.
    """

    bundle: Bundle
    facts: ModelFacts
    level: Level
    kv_cache: KvCache
    session: SessionSettings
    reason: str

    def open(self, name: GraphName, threads: int | None = None) -> Session:
        """Open one of the graphs.

        Args:
            threads: Threads of one run; None takes all.

        Raises:
            ModelLoadError: It is missing, broken, or does not fit into memory.
            RuntimeSetupError: The provider cannot be used.
        """
        session = replace(self.session, threads=threads or self.session.threads)
        return open_session(self.bundle.graphs(self.level)[name], session)

    def open_again(self, name: GraphName) -> Session:
        """Open a graph of a model that speaks already.

        Raises:
            ModelLoadError: It is not what it was when the model was opened.
        """
        self.bundle.check_graph(self.bundle.graphs(self.level)[name])
        return self.open(name)


def check_version(bundle: Bundle) -> None:
    """Make sure that the graphs are such as this version runs.

    Raises:
        ModelLoadError: Another version made them.
    """
    manifest = bundle.manifest
    if manifest.graphs_version != GRAPHS_VERSION:
        raise ModelLoadError(
            f"{manifest.model} was converted by another version of CosyKit",
            hint=f"Run: cosykit install {manifest.model} --repair",
        )


def find_installed(model: str, settings: Settings) -> Installed:
    """Look up a model and decide how to run it.

    Raises:
        ModelLoadError: It is not installed, or not at the precision asked for.
        RuntimeSetupError: The provider asked for cannot be used.
    """
    bundle = read_bundle(settings.models_dir, model)
    if bundle is None or bundle.manifest.facts is None:
        raise ModelLoadError(
            f"{model} is not installed in {settings.models_dir}",
            hint=f"Run: cosykit install {model}",
        )
    check_version(bundle)
    runtime = settings.runtime
    provider = choose_provider(runtime.provider)
    choice = choose_level(
        runtime.precision,
        runtime.vocoder_precision,
        provider.provider,
        bundle.levels,
        model,
    )
    session = SessionSettings(
        provider.provider,
        runtime.threads or usable_cores(),
        device_id=runtime.device_id,
        device_memory_mb=runtime.device_memory_mb,
        shares=True,
        remedy=f"Run: cosykit install {model} --repair",
    )
    kv_cache = choose_kv_cache(
        runtime.kv_cache, choice.level.precision, provider.provider
    )
    reasons = (
        f"{provider.provider}: {provider.reason}",
        f"{choice.level}: {choice.reason}",
        f"kv_cache {kv_cache}",
    )
    return Installed(
        bundle,
        bundle.manifest.facts,
        choice.level,
        kv_cache,
        session,
        reason="; ".join(reasons),
    )
