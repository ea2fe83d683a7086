"""Load a server with Locust, for those who prefer it to `cosykit bench --load`.

    .venv/bin/pip install locust    # uv made it: uv pip install --python .venv locust
    .venv/bin/locust --headless -u 10 -t 1m -H http://127.0.0.1:50000 \
        -f examples/locustfile.py

Each request is reported in three rows: `POST` until the head of its answer, `first
byte` of its audio, and `whole` until the last byte. A refusal (429 or 503) counts as a
failure of `POST`, by its status.
"""

import time

from locust import HttpUser, events, task

from cosykit.ops.load.texts import short_texts

TEXTS = short_texts()


class Listener(HttpUser):
    """Asks for speech, listens to its end, asks again."""

    @task
    def listen(self) -> None:
        """Speak one text."""
        body = {"model": "auto", "input": next(TEXTS), "response_format": "pcm"}
        began = time.perf_counter()
        asking = self.client.post(
            "/v1/audio/speech", json=body, stream=True, catch_response=True
        )
        with asking as answer:
            if answer.status_code != 200:
                time.sleep(float(answer.headers.get("retry-after", 1)))
                return
            received = 0
            for piece in answer.iter_content(4096):
                if not received:
                    report("first byte", began, len(piece))
                received += len(piece)
            report("whole", began, received)


def report(name: str, began: float, received: int) -> None:
    """Tell Locust how long something took, in milliseconds."""
    events.request.fire(
        request_type="AUDIO",
        name=name,
        response_time=(time.perf_counter() - began) * 1000,
        response_length=received,
        exception=None,
        context={},
    )
