"""Bodies, parameters and headers that nobody would send, on every documented route."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from tests.patience import PATIENCE_S
from tests.server.conftest import Running

Record = Callable[[str, object], None]
# Of each route: as many that the document allows as such that it does not.
EXAMPLES = 15
HEADERS = st.dictionaries(
    st.sampled_from(
        (
            *("Content-Type", "Authorization", "Accept", "Range", "Cache-Control"),
            *("Origin", "X-Request-Id", "X-Forwarded-For", "Content-Encoding"),
            *("X-DashScope-SSE", "Upgrade", "Cookie", "Sec-WebSocket-Key"),
        )
    ),
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0xFF), max_size=300),
    max_size=4,
)


@pytest.mark.fault("bodies, parameters and headers are fuzzed on every route")
def test_fuzzed_request_is_answered_on_every_route(
    tone: Running, record_property: Record
) -> None:
    schema = schemathesis.openapi.from_url(f"{tone.url}/openapi.json")
    answers: Counter[int] = Counter()
    routes = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        fuzz(found.ok(), GenerationMode.POSITIVE, answers)
        # Of some, nothing can be wrong, such as of a GET without parameters.
        with suppress(Unsatisfiable):
            fuzz(found.ok(), GenerationMode.NEGATIVE, answers)
        routes += 1
    assert routes > 10
    assert answers[200] > routes
    assert answers[400] > routes
    statuses = dict(sorted(answers.items()))
    record_property("outcome", f"{routes} routes, answers by status: {statuses}")


def fuzz(
    operation: APIOperation,  # type: ignore[type-arg]
    mode: GenerationMode,
    answers: Counter[int],
) -> None:
    @seed(0)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), headers=HEADERS)
    def answered(
        case: Case,  # type: ignore[type-arg]
        headers: Mapping[str, str],
    ) -> None:
        encoded = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = case.call(headers=encoded, timeout=PATIENCE_S)
        answers[answer.status_code] += 1
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)

    answered()
