"""Open and run ONNX graphs on the provider that was chosen, and on no other."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from cosykit.errors import (
    ModelLoadError,
    OutOfMemoryError,
    RuntimeSetupError,
    TooLittleMemoryError,
)
from cosykit.runtime.arenas import share_between_sessions
from cosykit.runtime.binding import BindableSession, BoundRun
from cosykit.runtime.blocks import HOST, Block, Place
from cosykit.runtime.cores import int8_saturates
from cosykit.runtime.memory import is_shortage
from cosykit.runtime.providers import ORT_NAMES, Provider
from cosykit.runtime.wheel import import_runtime, runtime_version

Tensor = NDArray[np.generic]

_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(int8)": np.int8,
    "tensor(int64)": np.int64,
}

# Widening float16 weights for the processor ends the process where an optional input is
# left out (onnxruntime 1.32).
_CRASHING_REWRITES = ("FuseFp16InitializerToFp32NodeTransformer",)


class RunCancelledError(Exception):
    """A run was ended by its `Cancellation`; not a failure."""


class _RunOptions(Protocol):
    terminate: bool

    def add_run_config_entry(self, key: str, value: str) -> None: ...


class _OrtValueInfo(Protocol):
    name: str
    shape: Sequence[int | str]
    type: str


class _OrtMemoryInfo(Protocol):
    name: str
    device_id: int


class _OrtSession(BindableSession, Protocol):
    def get_inputs(self) -> Sequence[_OrtValueInfo]: ...
    def get_outputs(self) -> Sequence[_OrtValueInfo]: ...
    def get_input_memory_infos(self) -> Sequence[_OrtMemoryInfo]: ...

    def run(
        self,
        names: Sequence[str] | None,
        feeds: Mapping[str, Tensor],
        options: _RunOptions | None = None,
    ) -> list[Tensor]: ...

    def get_providers(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How to open a session.

    Attributes:
        threads: Threads of one run, at least 1.
        device_id: Which GPU, counted from 0.
        device_memory_mb: Bound on GPU memory in MiB; 0 is none.
        rewrites: Whether the runtime may rewrite the graph. Off, it opens in less than
            half the time.
        shrinks: Whether memory is given back after each run, for inputs whose length
            varies much. It costs 3 % of the time.
        shares: Whether its memory is shared with other such sessions on the CPU.
        remedy: What to do about a graph that cannot be loaded.
    """

    provider: Provider
    threads: int
    device_id: int = 0
    device_memory_mb: int = 0
    rewrites: bool = True
    shrinks: bool = False
    shares: bool = False
    remedy: str = ""


class Cancellation:
    """Ends the runs it is given to, from any thread, also in their middle."""

    def __init__(self, options: _RunOptions) -> None:
        self._options = options
        self._set = threading.Event()

    def cancel(self) -> None:
        """End the current run, and every later one, as soon as the runtime can."""
        self._set.set()
        self._options.terminate = True

    @property
    def requested(self) -> bool:
        """Whether `cancel` was called."""
        return self._set.is_set()

    @property
    def options(self) -> _RunOptions:
        """The options that carry the wish into the runtime."""
        return self._options


class Session:
    """A loaded graph; `run` may be called by several threads at once."""

    def __init__(self, session: _OrtSession, settings: SessionSettings) -> None:
        self._session = session
        self._shrinks = settings.shrinks
        self.provider = settings.provider

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, in the graph's order."""
        return tuple(node.name for node in self._session.get_inputs())

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs, in the graph's order."""
        return tuple(node.name for node in self._session.get_outputs())

    def dtype_of(self, name: str) -> np.dtype[np.generic]:
        """Give the type of an input's elements."""
        return np.dtype(_DTYPES[self._input(name).type])

    def nothing(self, name: str) -> Tensor:
        """Make an empty input, of size zero where a size is free."""
        free = [n if isinstance(n, int) else 0 for n in self._input(name).shape]
        return np.zeros(free, self.dtype_of(name))

    def place_of(self, name: str) -> Place:
        """Say where the graph reads an input: on the GPU, if its first node runs there.

        A block that lies elsewhere would be copied once, and changed no more.
        """
        if self.provider == "cpu":
            return HOST
        info = self._session.get_input_memory_infos()[self.inputs.index(name)]
        device = info.name.lower()
        return Place(device, info.device_id) if device == "cuda" else HOST

    def cancellation(self) -> Cancellation:
        """Make the means to end runs of this session."""
        return Cancellation(self._run_options())

    def _run_options(self) -> _RunOptions:
        options = cast(_RunOptions, import_runtime().RunOptions())
        if self._shrinks:
            options.add_run_config_entry(
                "memory.enable_memory_arena_shrinkage", "cpu:0"
            )
        return options

    def run(
        self,
        feeds: Mapping[str, Tensor],
        outputs: Sequence[str] | None = None,
        cancellation: Cancellation | None = None,
    ) -> list[Tensor]:
        """Run the graph once.

        Raises:
            RunCancelledError: The cancellation was requested.
            OutOfMemoryError: It needs more than there is.
        """
        if cancellation and cancellation.requested:
            raise RunCancelledError
        options = cancellation.options if cancellation else self._run_options()
        try:
            return self._session.run(outputs, feeds, options)
        except Exception as error:
            # The runtime has no exceptions of its own for these.
            if cancellation and cancellation.requested:
                raise RunCancelledError from error
            if is_shortage(error):
                raise OutOfMemoryError from error
            raise

    def bound(
        self,
        inputs: Mapping[str, Block | Tensor],
        outputs: Mapping[str, Block | Tensor],
    ) -> BoundRun:
        """Bind the graph to memory, for several runs; see `BoundRun`."""
        return BoundRun(self._session, inputs, outputs)

    def _input(self, name: str) -> _OrtValueInfo:
        return self._session.get_inputs()[self.inputs.index(name)]


def open_session(graph: Path, settings: SessionSettings) -> Session:
    """Load a graph from its file.

    Raises:
        ModelLoadError: The file is missing, broken, or does not fit into memory.
        RuntimeSetupError: The session fell back to another provider than asked for.
    """
    runtime = import_runtime()
    if settings.provider != "cpu":
        runtime.preload_dlls()
    if not graph.is_file():
        raise ModelLoadError(f"the graph {graph} does not exist", hint=settings.remedy)
    try:
        session = cast(
            _OrtSession,
            runtime.InferenceSession(
                str(graph),
                _session_options(runtime, settings),
                providers=_providers(settings),
                disabled_optimizers=_CRASHING_REWRITES,
            ),
        )
    except Exception as error:
        # onnxruntime raises a dozen unrelated types; all of them mean "not loaded".
        if is_shortage(error):
            raise TooLittleMemoryError(graph.name) from error
        raise ModelLoadError(
            f"ONNX Runtime cannot load {graph.name}: {error}",
            hint=settings.remedy,
        ) from error
    _check_provider(session, settings.provider)
    return Session(session, settings)


def _session_options(runtime: ModuleType, settings: SessionSettings) -> object:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.inter_op_num_threads = 1
    spinning, value = _spinning()
    options.add_session_config_entry(spinning, value)
    if settings.shares:
        share_between_sessions(runtime)
        options.add_session_config_entry("session.use_env_allocators", "1")
    # A plan of memory for one length is in the way of the next.
    options.enable_mem_pattern = not settings.shrinks
    if int8_saturates():
        # Sums of signed int8 products overflow on this processor unless the runtime
        # makes them unsigned, which it does as one of its rewrites.
        options.add_session_config_entry("session.x64quantprecision", "1")
    elif not settings.rewrites:
        level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.graph_optimization_level = level
    return options


def _spinning() -> tuple[str, str]:
    """Say how threads wait for the next node.

    Those that spin without a limit tripled the time of a run on cores that had other
    work. 10 us take a ninth off a step of the language model at int8, a sixth at int4,
    and cost next to nothing on busy cores; 40 us bring no more there, and cost a fifth.
    """
    if runtime_version() < (1, 26):
        return "session.intra_op.allow_spinning", "0"
    return "session.intra_op.spin_duration_us", "10"


def _providers(settings: SessionSettings) -> list[tuple[str, dict[str, str]]]:
    cpu: tuple[str, dict[str, str]] = (ORT_NAMES["cpu"], {})
    if settings.provider == "cpu":
        return [cpu]
    options = {"device_id": str(settings.device_id)}
    cuda_options = dict(options)
    if settings.device_memory_mb:
        cuda_options["gpu_mem_limit"] = str(settings.device_memory_mb * 2**20)
    cuda = (ORT_NAMES["cuda"], cuda_options)
    if settings.provider == "cuda":
        return [cuda, cpu]
    return [(ORT_NAMES["tensorrt"], options), cuda, cpu]


def _check_provider(session: _OrtSession, wanted: Provider) -> None:
    """Refuse the silent fallback to CPU that the runtime does without a usable GPU."""
    used = session.get_providers()
    if ORT_NAMES[wanted] not in used:
        raise RuntimeSetupError(
            f"asked for {wanted}, but ONNX Runtime fell back to {', '.join(used)}",
            hint="Run `cosykit doctor` to see what is missing, or set "
            "runtime.provider: cpu",
        )
