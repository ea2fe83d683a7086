"""Choose the type in which the language model remembers keys and values.

As int8 they take a quarter of the memory, which every step reads: on two cores of a
server a step of eight sequences took 17 ms instead of 20.
"""

from typing import Literal

from cosykit.errors import RuntimeSetupError
from cosykit.runtime.providers import Provider
from cosykit.runtime.wheel import runtime_version
from cosykit.spec import QUANTIZED, Precision

KvCache = Literal["float", "int8"]

# 1.26 cannot run it on a processor, and 1.27 mixes up the sequences of a batch.
_INT8_SINCE = (1, 28)


def choose_kv_cache(
    wanted: KvCache | Literal["auto"], precision: Precision, provider: Provider
) -> KvCache:
    """Take what is asked for, or int8 where that can be had.

    Raises:
        RuntimeSetupError: What is asked for cannot be had here.
    """
    if wanted == "float":
        return "float"
    obstacle = _obstacle(precision, provider)
    if obstacle is None:
        return "int8"
    if wanted == "int8":
        raise RuntimeSetupError(
            f"a cache of int8 cannot be had {obstacle}",
            hint="Set runtime.kv_cache to auto",
        )
    return "float"


def _obstacle(precision: Precision, provider: Provider) -> str | None:
    if precision not in QUANTIZED:
        return f"at precision {precision}"
    if provider != "cpu":
        return f"on {provider}"
    version = major, minor = runtime_version()
    if version < _INT8_SINCE:
        return f"with ONNX Runtime {major}.{minor}"
    return None
