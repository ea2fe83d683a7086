"""Every setting: its name, type, default, bounds and meaning."""

from pathlib import Path
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
)

from cosykit.audio.formats import AudioFormat
from cosykit.config.values import (
    Auto,
    CacheStore,
    Fallback,
    Folder,
    HubSource,
    KvCache,
    Line,
    LogFormat,
    LogLevel,
    OptionalPort,
    Precision,
    Pronunciations,
    Provider,
    Proxy,
    SampleRate,
    Schedule,
    Secret,
    VocoderPrecision,
    WebAddress,
    WebOrigin,
    checked_secret,
    no_number,
)


class Section(BaseModel):
    """A frozen group of settings that takes no unknown key and no wrong type."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False
    )


class ApiKey(Section):
    """A key that clients may show; written as plain text where it is only that.

    Attributes:
        name: What logs and the engine's sharing call who shows it; empty for nothing.
        priority: Requests of a higher one begin first.
        requests_per_minute: Most of this key; 0 sets no limit, None takes
            `server.requests_per_minute_per_key`.
    """

    key: Secret
    name: Line = Field(default="", max_length=64)
    priority: int = Field(default=0, ge=-100, le=100)
    requests_per_minute: int | None = Field(default=None, ge=0, le=10_000_000)


def _api_key(written: object) -> object:
    if isinstance(written, str):
        return ApiKey(key=checked_secret(SecretStr(written)))
    if not isinstance(no_number(written), dict | ApiKey):
        raise ValueError("must be a key, or a key with its name")
    return written


def _distinct(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
    if len({key.key.get_secret_value() for key in keys}) < len(keys):
        raise ValueError("must not hold a key twice")
    return keys


class RuntimeSettings(Section):
    """How ONNX Runtime runs the graphs."""

    provider: Provider = Field(
        default="auto", description="ONNX Runtime execution provider"
    )
    precision: Precision = Field(
        default="auto", description="Quantization level of the graphs"
    )
    vocoder_precision: VocoderPrecision = Field(
        default="auto", description="Quantization level of the vocoder's graph"
    )
    kv_cache: KvCache = Field(
        default="auto",
        description="Type in which the language model remembers keys and values",
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=1024,
        description="Threads of one run; 0 takes the physical cores",
    )
    device_id: int = Field(default=0, ge=0, le=1023, description="Which GPU to use")
    device_memory_mb: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Most GPU memory to take, in MiB; 0 sets no limit",
    )


class EngineSettings(Section):
    """How requests are queued and run together."""

    batch_size: int = Field(
        default=8, ge=1, le=256, description="Most requests that run together"
    )
    batch_window_ms: int = Field(
        default=5,
        ge=0,
        le=1000,
        description="How long a first request waits for company",
    )
    queue_size: int = Field(
        default=64,
        ge=1,
        le=100_000,
        description="Most requests that wait; more are refused",
    )
    start_within_s: float = Field(
        default=30.0,
        gt=0,
        le=86_400,
        description="Most time until a request begins; refused when it cannot",
    )
    timeout_s: float = Field(
        default=300.0,
        gt=0,
        le=86_400,
        description="Most time that a client waits for all of a request",
    )
    parallel: Auto | Annotated[int, Field(ge=1, le=256)] = Field(
        default="auto",
        description="Requests that models speak at once which do not batch; auto takes "
        "the physical cores, 1 saves the embedded voice 150 MB",
    )
    memory_limit_mb: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Most memory for all loaded models; 0 sets no limit",
    )
    unload_after_s: float = Field(
        default=600.0,
        ge=0,
        le=31_536_000,
        description="When a model that requests named is unloaded; 0 keeps it",
    )
    warm_up: bool = Field(
        default=True, description="Speak once before the server is ready"
    )
    schedule: Schedule = Field(
        default="default",
        description="Chunks of CosyVoice's speech; upstream makes them as long as the "
        "official code",
    )
    fallback: tuple[Fallback, ...] = Field(
        default=("cpu", "precision", "lite"),
        strict=False,
        description="What may speak when the model that auto chose cannot be loaded",
    )
    vocoder: str = Field(
        default="hift",
        min_length=1,
        description="Vocoder of CosyVoice, by its plug-in name",
    )


class ServerSettings(Section):
    """Where the server listens and what it accepts."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        pattern=r"^\S+$",
        description="Address to listen on; 0.0.0.0 opens it to the network",
    )
    port: int = Field(
        default=50000, ge=0, le=65535, description="TCP port; 0 takes any free one"
    )
    grpc_port: OptionalPort = Field(
        default="off", description="TCP port of gRPC; 0 takes any free one"
    )
    wyoming_port: OptionalPort = Field(
        default="off",
        description="TCP port of Wyoming, for Home Assistant; its clients have no "
        "keys, so with api_keys, host has to be 127.0.0.1",
    )
    api_keys: Annotated[
        tuple[Annotated[ApiKey, BeforeValidator(_api_key)], ...],
        AfterValidator(_distinct),
    ] = Field(
        default=(),
        strict=False,
        description="Keys that clients must show; none lets all in",
    )
    cors_origins: tuple[WebOrigin, ...] = Field(
        default=(),
        strict=False,
        description="Web origins whose pages may call the server",
    )
    trusted_proxies: tuple[Proxy, ...] = Field(
        default=("127.0.0.1", "::1"),
        strict=False,
        description="Proxies that are believed whom they speak for (X-Forwarded-For)",
    )
    requests_per_minute_per_key: int = Field(
        default=0, ge=0, le=10_000_000, description="Most of one key; 0 sets no limit"
    )
    requests_per_minute_per_address: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="Most of one client address; 0 sets no limit",
    )
    max_text_chars: int = Field(
        default=4096, ge=1, le=10_000_000, description="Longest text of one request"
    )
    max_body_mb: int = Field(
        default=4, ge=1, le=1024, description="Largest body of one request, in MiB"
    )
    silence_s: float = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="When a connection that sends no request is closed",
    )
    grace_s: float = Field(
        default=20.0,
        ge=0,
        le=3600,
        description="Time to finish what runs when stopping",
    )


class AudioSettings(Section):
    """The audio that is made when a request does not say."""

    format: AudioFormat = Field(default="wav", description="Container and codec")
    sample_rate: SampleRate = Field(
        default=0,
        description="Samples a second; 0 keeps the engine's own",
    )


class CacheSettings(Section):
    """Finished speech that is kept, to be given again."""

    store: CacheStore = Field(
        default="memory", description="Where finished speech is kept"
    )
    size_mb: int = Field(
        default=64, ge=1, le=1_000_000, description="Most memory for it, in MiB"
    )
    keep_s: float = Field(
        default=86_400.0,
        ge=0,
        le=31_536_000,
        description="How long it is kept; 0 sets no limit",
    )
    redis_url: SecretStr = Field(
        default=SecretStr("redis://127.0.0.1:6379/0"),
        description="Address of the Redis server",
    )
    redis_timeout_ms: int = Field(
        default=100,
        ge=1,
        le=60_000,
        description="How long Redis is waited for before one goes on without it",
    )


class TextSettings(Section):
    """How text is read."""

    frontend: str = Field(
        default="standard",
        min_length=1,
        description="Text front end, by its plug-in name",
    )
    normalize: bool = Field(
        default=True, description="Write out numbers, dates, units and symbols"
    )
    pronunciations: Pronunciations = Field(
        default_factory=dict,
        description="Your own readings: pinyin with tones, or IPA between slashes",
    )


class HubSettings(Section):
    """Where models are downloaded from."""

    source: HubSource = Field(
        default="auto", description="Model hub; auto takes the first to answer"
    )
    endpoint: WebAddress = Field(
        default="",
        description="Address of a mirror of the hub; empty for the hub itself",
    )
    offline: bool = Field(default=False, description="Never use the network")
    strict: bool = Field(
        default=False,
        description="Refuse files that are not the ones CosyKit was tested with",
    )
    timeout_s: float = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Longest silence of a hub before another try",
    )
    retries: int = Field(
        default=6,
        ge=0,
        le=100,
        description="Tries after a failed one, as long as nothing more arrives",
    )


class LogSettings(Section):
    """What is logged."""

    level: LogLevel = Field(default="info", description="Least important lines to show")
    format: LogFormat = Field(default="text", description="Lines for people, or JSON")


class Settings(Section):
    """The whole configuration, validated and frozen."""

    model: str = Field(
        default="auto",
        min_length=1,
        description="Model id; auto takes the best one installed",
    )
    models_dir: Folder = Field(
        default=Path("models"),
        strict=False,
        description="Folder of the installed models",
    )
    runtime: RuntimeSettings = RuntimeSettings()
    engine: EngineSettings = EngineSettings()
    server: ServerSettings = ServerSettings()
    audio: AudioSettings = AudioSettings()
    cache: CacheSettings = CacheSettings()
    text: TextSettings = TextSettings()
    hub: HubSettings = HubSettings()
    log: LogSettings = LogSettings()
