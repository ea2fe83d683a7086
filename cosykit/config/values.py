"""The values that settings take, and what else makes one valid than its type."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from cosykit.audio.formats import SAMPLE_RATES

Provider = Literal["auto", "cpu", "cuda", "tensorrt"]
Precision = Literal["auto", "fp32", "fp16", "int8", "int4"]
VocoderPrecision = Literal["auto", "fp32", "fp16", "int8"]
KvCache = Literal["auto", "float", "int8"]
HubSource = Literal["auto", "huggingface", "modelscope"]
LogLevel = Literal["debug", "info", "warning", "error"]
Schedule = Literal["default", "upstream"]
Fallback = Literal["cpu", "precision", "lite"]
LogFormat = Literal["text", "json"]
CacheStore = Literal["off", "memory", "redis"]
Auto = Literal["auto"]
Off = Literal["off"]


def _web_address(address: str) -> str:
    if address and not _is_web_address(address):
        raise ValueError("must be an address such as https://example.org")
    return address


def _origin(origin: str) -> str:
    if origin != "*" and not (_is_web_address(origin) and origin.count("/") == 2):
        raise ValueError("must be * or an origin such as https://example.org:8080")
    return origin


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        _ = parts.port  # refuses a port that is no number
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def checked_secret(key: SecretStr) -> SecretStr:
    """Refuse a key that cannot travel in an `Authorization: Bearer` header.

    Raises:
        ValueError: It holds spaces, or other characters than printable ASCII.
    """
    text = key.get_secret_value()
    if not (text and text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("must be printable ASCII characters without spaces")
    return key


def no_number(key: object) -> object:
    """Refuse a key that YAML reads as a number: what it was written as is lost.

    Raises:
        ValueError: It is a number, or `true` and its like.
    """
    if isinstance(key, int | float):
        raise ValueError("must be text: put a key of digits in quotes")
    return key


def _folder(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("must be a path, which has no null character")
    return path


def _one_line(name: str) -> str:
    if not name.isprintable():
        raise ValueError("must be printable characters on one line")
    return name


def _proxy(address: str) -> str:
    if address != "*":
        try:
            ip_network(address)
        except ValueError as error:
            raise ValueError("must be *, an IP address or a network") from error
    return address


def _sample_rate(rate: int) -> int:
    if rate not in (0, *SAMPLE_RATES):
        raise ValueError(f"must be 0 or one of {', '.join(map(str, SAMPLE_RATES))}")
    return rate


def _pronunciations(readings: dict[str, str]) -> dict[str, str]:
    for word, reading in readings.items():
        if not word.strip() or not reading.strip():
            raise ValueError("must give a reading for each word; one of them is empty")
    return readings


Port = Annotated[int, Field(ge=0, le=65535)]
OptionalPort = Off | Port
Secret = Annotated[
    SecretStr, BeforeValidator(no_number), AfterValidator(checked_secret)
]
Folder = Annotated[Path, AfterValidator(_folder)]
Line = Annotated[str, AfterValidator(_one_line)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
WebOrigin = Annotated[str, AfterValidator(_origin)]
Proxy = Annotated[str, AfterValidator(_proxy)]
SampleRate = Annotated[int, AfterValidator(_sample_rate)]
Pronunciations = Annotated[dict[str, str], AfterValidator(_pronunciations)]
