from types import SimpleNamespace

import pytest

from cosykit.config.schema import Settings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.errors import CosykitError
from cosykit.seams import Progress
from cosykit.server.exchange import Serving
from cosykit.server.metrics import Metrics
from cosykit.server.service import SpeechService
from cosykit.types import SpeechRequest
from tests.synthesis.counting_engine import CountingEngine


def test_count_of_something_else_is_a_counter() -> None:
    metrics, counted = Metrics(), iter((1, 3))
    metrics.watch_count("cosykit_falls", "Falls", lambda: next(counted))
    assert "cosykit_falls_total 1.0" in metrics.page().decode()
    page = metrics.page().decode()
    assert "# TYPE cosykit_falls_total counter" in page
    assert "cosykit_falls_total 3.0" in page


async def test_runaways_of_all_models_are_told_also_of_those_that_are_unloaded() -> (
    None
):
    class Astray(CountingEngine):
        runaways = 2

    service = SpeechService(Settings())
    assert "cosykit_runaways_total 0.0" in service.metrics.page().decode()
    loops = [service._loader.loop_of(Synthesizer(Astray())) for _ in range(2)]
    assert "cosykit_runaways_total 4.0" in service.metrics.page().decode()
    await loops[0].close()
    assert "cosykit_runaways_total 4.0" in service.metrics.page().decode()
    await loops[1].close()
    assert "cosykit_runaways_total 4.0" in service.metrics.page().decode()


def test_lesser_model_in_the_place_of_the_best_is_told() -> None:
    service = SpeechService(Settings())
    assert "cosykit_ready 0.0" in service.metrics.page().decode()
    assert "cosykit_fallback 0.0" in service.metrics.page().decode()
    engine = SimpleNamespace(info=SimpleNamespace(model="some"))
    loop = SimpleNamespace(engine=engine, waiting=0, active=0, expected_wait_s=0.0)
    broken = "the graph is broken"
    service.configured.exchange.put(Serving(loop, broken))  # type: ignore[arg-type]
    assert "cosykit_fallback 1.0" in service.metrics.page().decode()


async def test_thread_that_died_is_counted() -> None:
    class Dying(CountingEngine):
        def begin(self, request: SpeechRequest) -> None:
            self.request = request

        def step(self, resting: object = ()) -> object:
            dies = self.request.text == "die"
            return None if dies else [Progress(self.request.request_id, None)]

    service = SpeechService(Settings())
    loop = service._loader.loop_of(Synthesizer(Dying()))
    with pytest.raises(CosykitError, match="failed unexpectedly"):
        [chunk async for chunk in loop.stream(SpeechRequest("die"))]
    assert [chunk async for chunk in loop.stream(SpeechRequest("live"))] == []
    await loop.close()
    page = service.metrics.page().decode()
    assert "cosykit_engine_restarts_total 1.0" in page
    assert "cosykit_expected_wait_seconds 0.0" in page
