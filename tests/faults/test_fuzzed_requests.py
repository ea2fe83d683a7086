"""Bodies, parameters and headers that nobody would send, on every documented route."""

from collections.abc import Callable, Iterator

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error

from tests.faults.conftest import PATIENCE_S
from tests.server.conftest import Running

Record = Callable[[str, object], None]
EXAMPLES = 25


@pytest.fixture(scope="module")
def document(tone: Running) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{tone.url}/openapi.json")


schema = schemathesis.pytest.from_fixture("document")


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_fuzzed_request_is_answered(case: Case) -> None:
    answer = case.call(timeout=PATIENCE_S)
    case.validate_response(answer, checks=(not_a_server_error,))
