"""Open the text front end that the configuration names."""

from cosykit.config.schema import TextSettings
from cosykit.plugins import load_plugin, misfit
from cosykit.seams import TextFrontend


def open_text_frontend(settings: TextSettings) -> TextFrontend:
    """Open a front end by its plug-in name.

    Raises:
        PluginError: There is no such plug-in, or it opens something else.
    """
    frontend = load_plugin("cosykit.text_frontends", settings.frontend)(settings)
    if not isinstance(frontend, TextFrontend):
        subject = f"text front end {settings.frontend!r}"
        raise misfit(subject, frontend, "a `sentences` method")
    return frontend
