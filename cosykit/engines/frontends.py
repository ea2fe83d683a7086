"""Open the text front end that the configuration names."""

from cosykit.config.schema import TextSettings
from cosykit.errors import PluginError
from cosykit.plugins import load_plugin
from cosykit.types import TextFrontend


def open_text_frontend(settings: TextSettings) -> TextFrontend:
    """Open a front end by its plug-in name.

    Raises:
        PluginError: There is no such plug-in, or it opens something else.
    """
    frontend = load_plugin("cosykit.text_frontends", settings.frontend)(settings)
    if not isinstance(frontend, TextFrontend):
        raise PluginError(
            f"text front end {settings.frontend!r} gave a {type(frontend).__name__}",
            hint="Its entry point has to return an object with a `sentences` method",
        )
    return frontend
