"""One validated, frozen configuration from flags, environment, file and defaults."""

from cosykit.config.load import LoadedSettings, Origin, Override, load_settings
from cosykit.config.schema import (
    AudioSettings,
    EngineSettings,
    HubSettings,
    LogSettings,
    RuntimeSettings,
    ServerSettings,
    Settings,
    TextSettings,
)

__all__ = [
    "AudioSettings",
    "EngineSettings",
    "HubSettings",
    "LoadedSettings",
    "LogSettings",
    "Origin",
    "Override",
    "RuntimeSettings",
    "ServerSettings",
    "Settings",
    "TextSettings",
    "load_settings",
]
