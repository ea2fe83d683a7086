"""What the server counts, in Prometheus' terms."""

from collections.abc import Callable, Iterable, Mapping

import psutil
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 13, 20, 30, 60, 120)
_FACTORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7, 1, 1.5, 2, 4)


class Metrics:
    """Counters and histograms of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "cosykit_requests",
            "Answers by route and HTTP status",
            ["route", "status"],
            registry=self.registry,
        )
        self.errors = Counter(
            "cosykit_errors",
            "Failed requests by error code",
            ["code"],
            registry=self.registry,
        )
        self.first_byte = Histogram(
            "cosykit_first_byte_seconds",
            "From the request to the first byte of audio",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.total = Histogram(
            "cosykit_request_seconds",
            "From the request to the last byte of audio",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.audio = Counter(
            "cosykit_audio_seconds",
            "Seconds of speech that were sent",
            registry=self.registry,
        )
        self.factor = Histogram(
            "cosykit_real_time_factor",
            "Time of a request, with waiting, by the length of its speech",
            buckets=_FACTORS,
            registry=self.registry,
        )
        self.cache_hits = Counter(
            "cosykit_cache_hits",
            "Requests answered with speech that was made before",
            registry=self.registry,
        )
        self.cache_misses = Counter(
            "cosykit_cache_misses",
            "Requests whose speech was looked for and had to be made",
            registry=self.registry,
        )
        self.cache_failures = Counter(
            "cosykit_cache_failures",
            "Times that Redis did not do what the cache asked of it",
            registry=self.registry,
        )
        self.engine_restarts = Counter(
            "cosykit_engine_restarts",
            "Times that a thread of an engine died and began anew",
            registry=self.registry,
        )
        memory = Gauge(
            "cosykit_resident_memory_bytes",
            "Resident memory of the server",
            registry=self.registry,
        )
        memory.set_function(lambda: psutil.Process().memory_info().rss)

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Add a gauge that is read whenever the metrics are."""
        Gauge(name, text, registry=self.registry).set_function(value)

    def watch_each(
        self,
        name: str,
        text: str,
        label: str,
        values: Callable[[], Mapping[str, float]],
    ) -> None:
        """Add a gauge for each of some things, which may come and go."""
        self.registry.register(_Each(name, text, label, values))

    def watch_count(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Add a counter that something else counts."""
        self.registry.register(_Counted(name, text, value))

    def page(self) -> bytes:
        """Write all of it in Prometheus' text format."""
        return generate_latest(self.registry)


class _Counted(Collector):
    """Reads a counter whenever the metrics are."""

    def __init__(self, name: str, text: str, value: Callable[[], float]) -> None:
        self._name, self._text, self._value = name, text, value

    def collect(self) -> Iterable[Metric]:
        """Read it."""
        yield CounterMetricFamily(self._name, self._text, value=self._value())


class _Each(Collector):
    """Reads the values of a gauge, by label, whenever the metrics are."""

    def __init__(
        self,
        name: str,
        text: str,
        label: str,
        values: Callable[[], Mapping[str, float]],
    ) -> None:
        self._name, self._text, self._label = name, text, label
        self._values = values

    def collect(self) -> Iterable[Metric]:
        """Read them."""
        family = GaugeMetricFamily(self._name, self._text, labels=[self._label])
        for label, value in self._values().items():
            family.add_metric([label], value)
        yield family
