"""Remember what takes long to find out, for several threads."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """The values that were asked for last; who asks for a known one never waits.

    Args:
        size: How many to keep.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[bytes, Value] = OrderedDict()
        self._reading = threading.Lock()
        self._making = threading.Lock()

    def get(self, key: bytes, make: Callable[[], Value]) -> Value:
        """Look a value up, or make it; one is made at a time, and none twice."""
        known = self._known(key)
        if known is not None:
            return known
        with self._making:
            known = self._known(key)
            return self._keep(key, make()) if known is None else known

    def _known(self, key: bytes) -> Value | None:
        with self._reading:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def _keep(self, key: bytes, value: Value) -> Value:
        with self._reading:
            self._values[key] = value
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        return value
