"""Which hubs come into question for a model, and which of them answers first."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from cosykit.config.schema import HubSettings
from cosykit.errors import HubError
from cosykit.hub.catalog import HubSource
from cosykit.hub.declared import Listing
from cosykit.hub.huggingface import HuggingFace
from cosykit.hub.modelscope import ModelScope

Hub = HuggingFace | ModelScope
# What Hugging Face's own client takes for yes.
_TRUE = {"1", "ON", "YES", "TRUE"}


@dataclass(frozen=True, slots=True)
class Place:
    """A repository of a hub where the files of a model may lie."""

    hub: Hub
    repository: str

    def __str__(self) -> str:
        return f"{self.repository} on {self.hub.title}"


def is_offline(settings: HubSettings) -> bool:
    """Tell whether the configuration, or HF_HUB_OFFLINE, forbids the network."""
    forbidden = os.environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE
    return settings.offline or forbidden


def configured_hubs(settings: HubSettings) -> Sequence[Hub]:
    """List the hubs that the configuration lets us ask.

    `hub.endpoint` stands in for every hub: with `hub.source: auto` it is found out
    whose language it speaks.
    """
    huggingface = HuggingFace(
        _endpoint(settings, "HF_ENDPOINT", "https://huggingface.co"),
        _huggingface_token(),
    )
    modelscope = ModelScope(
        _endpoint(settings, "MODELSCOPE_ENDPOINT", "https://modelscope.cn"),
        os.environ.get(ModelScope.token_variable, "").strip() or None,
    )
    if settings.source == "auto":
        return huggingface, modelscope
    return (huggingface if settings.source == "huggingface" else modelscope,)


def places(
    source: HubSource, settings: HubSettings, repository: str | None = None
) -> Sequence[Place]:
    """List where the configuration lets us look for a model.

    Args:
        repository: Another repository than the catalogue's, such as a private copy.
    """
    return [
        Place(hub, repository or source.repository(hub.name))
        for hub in configured_hubs(settings)
    ]


def _endpoint(settings: HubSettings, variable: str, official: str) -> str:
    named = settings.endpoint or os.environ.get(variable, "").strip()
    return (named or official).rstrip("/")


def _huggingface_token() -> str | None:
    """Take the token from HF_TOKEN, or from where `hf auth login` leaves it.

    Source: huggingface_hub/constants.py, HF_TOKEN_PATH and HF_HOME.
    """
    environ = os.environ
    if token := environ.get("HF_TOKEN", "").strip():
        return token
    caches = environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = environ.get("HF_HOME") or f"{caches}/huggingface"
    path = Path(environ.get("HF_TOKEN_PATH") or f"{home}/token")
    try:
        return path.expanduser().read_text(encoding="utf-8").strip() or None
    except (OSError, RuntimeError, ValueError):  # none there, or no home folder
        return None


def first_to_answer(
    candidates: Sequence[Place], ask: Callable[[Place], Listing]
) -> tuple[Place, Listing]:
    """Ask all at once and take the first good answer.

    The threads are not waited for: one may hang on a hub that nobody needs any more.

    Raises:
        HubError: None of them answers.
    """
    if len(candidates) == 1:
        return candidates[0], ask(candidates[0])
    answers: SimpleQueue[tuple[Place, Listing | HubError]] = SimpleQueue()

    def ask_one(place: Place) -> None:
        # A bug in this thread must not leave the other one waiting for an answer.
        answer: Listing | HubError = HubError(f"{place} could not be asked")
        try:
            answer = ask(place)
        except HubError as error:
            answer = error
        finally:
            answers.put((place, answer))

    for place in candidates:
        threading.Thread(target=ask_one, args=(place,), daemon=True).start()
    failures = []
    for _ in candidates:
        place, answer = answers.get()
        if isinstance(answer, Listing):
            return place, answer
        failures.append(answer)
    raise all_failed(failures)


def all_failed(failures: Sequence[HubError]) -> HubError:
    """Make one error of what every hub failed with."""
    if len(failures) == 1:
        return failures[0]
    told = "; ".join(failure.message for failure in failures)
    hints = dict.fromkeys(failure.hint for failure in failures if failure.hint)
    return HubError(f"no hub gives the files: {told}", hint=". ".join(hints))
