"""One validated, frozen configuration from flags, environment, file and defaults."""

from cosykit.config.load import LoadedSettings, Origin, load_settings
from cosykit.config.schema import Settings

__all__ = ["LoadedSettings", "Origin", "Settings", "load_settings"]
