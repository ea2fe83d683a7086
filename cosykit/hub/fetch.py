"""Bring the released files of a model here, from whichever hub gives them.

A rerun takes what is whole, continues what has begun and fetches the rest, so fetching
again is also how one broken file is mended.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from cosykit.config.schema import HubSettings
from cosykit.errors import HubError
from cosykit.hub.catalog import HubSource
from cosykit.hub.declared import Listing
from cosykit.hub.failures import ContentError, TransientError
from cosykit.hub.gather import Gathering, Order
from cosykit.hub.http import open_client
from cosykit.hub.hubs import Place, all_failed, first_to_answer, is_offline, places
from cosykit.hub.progress import Report, Say, silent
from cosykit.hub.retry import Patience
from cosykit.hub.sources import SourceFiles
from cosykit.hub.staging import Staging

# Content that is not what was declared: the hub is asked again what it holds, as it may
# be changing it, and after this many rounds it is given up.
_ROUNDS = 3
# While another hub is left to go to, this one is not waited for as long.
_RETRIES_BEFORE_ANOTHER_HUB = 2


def fetch(
    model: str,
    source: HubSource,
    models_dir: Path,
    settings: HubSettings,
    order: Order | None = None,
    say: Say = silent,
    report: Report = silent,
) -> SourceFiles:
    """Download what is missing of a model's files and check every byte of all.

    The caller holds the model's lock, and discards the files when they have served.

    Args:
        order: None takes everything that the catalogue names.
        say: Hears a line of news now and then.
        report: Hears how the download goes.

    Raises:
        HubError: No hub gives the files, or only others than `hub.strict` allows.
        ResourceError: No space, no permission, or the disk fails.
    """
    order = order or Order()
    staging = Staging(models_dir, model)
    gathering = Gathering(source, staging, settings, order, say, report)
    candidates = places(source, settings, order.repository)
    try:
        if is_offline(settings):
            raise _offline(model)
        search = _Search(gathering, settings, order, say)
        return search.run(list(candidates))
    except HubError as failure:
        present = _on_the_disk(gathering, staging, candidates, order)
        if present is None:
            raise
        say(f"{failure.message}; the files are here already")
        return present


def _offline(model: str) -> HubError:
    return HubError(
        f"{model} cannot be downloaded, as the configuration forbids the network",
        hint="Turn hub.offline (or HF_HUB_OFFLINE) off, or name a folder with the "
        "files: --from DIR",
    )


def _on_the_disk(
    gathering: Gathering,
    staging: Staging,
    candidates: Sequence[Place],
    order: Order,
) -> SourceFiles | None:
    """Take what an earlier call has gathered, if that is all that is wanted now."""
    listing = staging.listing()
    if listing is None:
        return None
    held = (listing.hub, listing.repository)
    for place in candidates:
        is_asked = order.revision_at(place) in (listing.asked, listing.revision)
        if is_asked and (place.hub.name, place.repository) == held:
            return gathering.present(place, listing)
    return None


class _Search:
    """Goes from hub to hub until one has given everything."""

    def __init__(
        self,
        gathering: Gathering,
        settings: HubSettings,
        order: Order,
        say: Say,
    ) -> None:
        self._gathering = gathering
        self._settings = settings
        self._order = order
        self._say = say

    def run(self, left: list[Place]) -> SourceFiles:
        failures: list[HubError] = []
        while left:
            try:
                place, listing = first_to_answer(left, self._asking(len(left)))
            except HubError as error:
                failures.append(error)
                break
            left.remove(place)
            try:
                return self._take(place, listing, len(left))
            except HubError as error:
                failures.append(error)
                if left:
                    self._say(f"{error.message}; going on with {left[0].hub.title}")
        raise all_failed(failures)

    def _asking(self, hubs: int) -> Callable[[Place], Listing]:
        """Give the function that asks a hub what it holds, one of so many."""
        say = self._say if hubs == 1 else silent

        def ask(place: Place) -> Listing:
            patience = self._patience(hubs, say)
            with open_client(self._settings.timeout_s) as client:
                while True:
                    try:
                        return place.hub.list_files(
                            client, place.repository, self._order.revision_at(place)
                        )
                    except TransientError as error:
                        patience.wait(error)

        return ask

    def _patience(self, hubs: int, say: Say) -> Patience:
        retries = self._settings.retries
        if hubs > 1:
            retries = min(retries, _RETRIES_BEFORE_ANOTHER_HUB)
        return Patience(retries, say)

    def _take(self, place: Place, listing: Listing, others: int) -> SourceFiles:
        """Take everything from one hub while so many others are left."""
        patience = self._patience(1 + others, self._say)
        for _ in range(_ROUNDS - 1):
            try:
                return self._gathering.complete(place, listing, patience)
            except ContentError as error:
                self._say(f"{error.message}; asking {place.hub.title} again")
                listing = self._asking(1 + others)(place)
        return self._gathering.complete(place, listing, patience)
