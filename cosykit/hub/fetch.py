"""Bring the released files of a model here, from whichever hub gives them.

A rerun takes what is whole, continues what has begun and fetches the rest, so fetching
again is also how one broken file is mended.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cosykit.config.schema import HubSettings
from cosykit.errors import HubError
from cosykit.hub.catalog import HubSource
from cosykit.hub.declared import DeclaredFile, Listing
from cosykit.hub.download import Download
from cosykit.hub.failures import ContentError, TransientError
from cosykit.hub.http import open_client
from cosykit.hub.hubs import Place, all_failed, first_to_answer, places
from cosykit.hub.progress import Report, Say, Transfer, silent
from cosykit.hub.retry import Patience
from cosykit.hub.sources import (
    SourceFiles,
    refused_by_strict,
    unexpected_files,
    used_all_the_same,
)
from cosykit.hub.space import require_space
from cosykit.hub.staging import Staging
from cosykit.hub.verify import FileDigest

# Content that is not what was declared: the hub is asked again what it holds, as it may
# be changing it, and after this many rounds it is given up.
_ROUNDS = 3
# While another hub is left to go to, this one is not waited for as long.
_RETRIES_BEFORE_ANOTHER_HUB = 2


@dataclass(frozen=True, slots=True)
class Order:
    """What to fetch.

    Attributes:
        repository: Another repository than the catalogue's, such as a private copy.
        revision: Branch, tag or commit; None for the hub's main branch.
        only: Names of the files to fetch; None for all that the model needs.
        conversion_ratio: Disk space that conversion will need on top, as a multiple of
            the size of the files.
    """

    repository: str | None = None
    revision: str | None = None
    only: Collection[str] | None = None
    conversion_ratio: float = 1.0


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

    Raises:
        HubError: No hub gives the files, or only others than `hub.strict` allows.
        ResourceError: No space, no permission, or the disk fails.
    """
    staging = Staging(models_dir, model)
    return _Fetch(model, source, staging, settings, order or Order(), say, report).run()


class _Fetch:
    """One call of `fetch`: finds a hub, and goes over to the next when it fails."""

    def __init__(
        self,
        model: str,
        source: HubSource,
        staging: Staging,
        settings: HubSettings,
        order: Order,
        say: Say,
        report: Report,
    ) -> None:
        self._model = model
        self._source = source
        self._staging = staging
        self._settings = settings
        self._order = order
        self._say = say
        self._report = report
        self._sizes: Mapping[str, int] = {}
        self._arrived: dict[str, int] = {}

    def run(self) -> SourceFiles:
        candidates = places(self._source, self._settings, self._order.repository)
        try:
            if self._settings.offline:
                raise self._offline()
            return self._from_hubs(list(candidates))
        except HubError as failure:
            present = self._from_disk(candidates)
            if present is None:
                raise
            self._say(f"{failure.message}; the files are here already")
            return present

    def _offline(self) -> HubError:
        return HubError(
            f"hub.offline forbids to download {self._model}",
            hint="Turn hub.offline off, or name a folder with the files: --from DIR",
        )

    def _from_hubs(self, left: list[Place]) -> SourceFiles:
        failures: list[HubError] = []
        while left:
            try:
                place, listing = first_to_answer(left, self._asking(len(left)))
            except HubError as error:
                failures.append(error)
                break
            left.remove(place)
            try:
                return self._fetch_from(place, listing, len(left))
            except HubError as error:
                failures.append(error)
                if left:
                    self._say(f"{error.message}; going on with {left[0].hub.title}")
        raise all_failed(failures)

    def _from_disk(self, candidates: Sequence[Place]) -> SourceFiles | None:
        """Take what an earlier call has gathered, if that is all."""
        listing = self._staging.listing()
        if listing is None or listing.asked != self._order.revision:
            return None
        for place in candidates:
            if (place.hub.name, place.repository) == (listing.hub, listing.repository):
                wanted = self._wanted(place, listing)
                digests = self._staging.whole_files(wanted)
                if len(digests) == len(wanted):
                    return self._source_files(place, listing, digests)
        return None

    def _asking(self, hubs: int) -> Callable[[Place], Listing]:
        """Give the function that asks a hub what it holds; `hubs` are being asked."""
        say = self._say if hubs == 1 else silent

        def ask(place: Place) -> Listing:
            patience = self._patience(hubs - 1, say)
            with open_client(self._settings.timeout_s) as client:
                while True:
                    try:
                        return place.hub.list_files(
                            client, place.repository, self._order.revision
                        )
                    except TransientError as error:
                        patience.wait(error)

        return ask

    def _patience(self, other_hubs: int, say: Say) -> Patience:
        retries = self._settings.retries
        if other_hubs:
            retries = min(retries, _RETRIES_BEFORE_ANOTHER_HUB)
        return Patience(retries, say)

    def _fetch_from(
        self, place: Place, listing: Listing, other_hubs: int
    ) -> SourceFiles:
        for _ in range(_ROUNDS - 1):
            try:
                return self._complete(place, listing, other_hubs)
            except ContentError as error:
                self._say(f"{error.message}; asking {place.hub.title} again")
                listing = self._asking(1 + other_hubs)(place)
        return self._complete(place, listing, other_hubs)

    def _complete(self, place: Place, listing: Listing, other_hubs: int) -> SourceFiles:
        wanted = self._wanted(place, listing)
        self._compare_with_catalogue(place, wanted)
        digests = self._staging.whole_files(wanted)
        self._prepare(wanted, digests)
        self._staging.save_listing(listing)
        patience = self._patience(other_hubs, self._say)
        with open_client(self._settings.timeout_s) as client:
            for path in wanted:
                if path not in digests:
                    patience.renew()
                    arrived = partial(self._tell, path)
                    download = Download(client, place, listing, path, arrived)
                    target = self._staging.folder / path
                    digests[path] = download.run(target, patience)
        return self._source_files(place, listing, digests)

    def _wanted(self, place: Place, listing: Listing) -> Mapping[str, DeclaredFile]:
        """Pick the files, the small ones first: most faults show before a long wait."""
        optional = [path for path in self._source.optional if path in listing.files]
        only = self._order.only
        paths = [
            path
            for path in (*self._source.files, *optional)
            if only is None or path in only
        ]
        missing = [path for path in paths if path not in listing.files]
        if missing:
            raise HubError(
                f"{place} lacks {', '.join(missing)}",
                hint="Check the repository and --revision",
            )
        paths.sort(key=lambda path: listing.files[path].size_bytes)
        return {path: listing.files[path] for path in paths}

    def _compare_with_catalogue(
        self, place: Place, wanted: Mapping[str, DeclaredFile]
    ) -> None:
        """Tell what the hub holds otherwise, before it is fetched."""
        known = self._source.known
        others = [
            path
            for path, declared in wanted.items()
            if path in known and not declared.may_be(known[path])
        ]
        if others and self._settings.strict:
            raise refused_by_strict(others, str(place))
        for path in others:
            self._say(used_all_the_same(path, str(place)))

    def _prepare(
        self,
        wanted: Mapping[str, DeclaredFile],
        whole: Mapping[str, FileDigest],
    ) -> None:
        """Check the space for all that is to come, and tell where each file stands."""
        self._sizes = {path: declared.size_bytes for path, declared in wanted.items()}
        self._arrived = {
            path: size_bytes
            if path in whole
            else self._staging.begun_bytes(path, size_bytes)
            for path, size_bytes in self._sizes.items()
        }
        total = sum(self._sizes.values())
        needed = total - sum(self._arrived.values())
        needed += round(total * self._order.conversion_ratio)
        require_space(self._staging.folder, needed, self._model)
        for path, arrived_bytes in self._arrived.items():
            self._tell(path, arrived_bytes)

    def _tell(self, path: str, arrived_bytes: int) -> None:
        self._arrived[path] = arrived_bytes
        self._report(
            Transfer(
                path,
                arrived_bytes,
                self._sizes[path],
                sum(self._arrived.values()),
                sum(self._sizes.values()),
            )
        )

    def _source_files(
        self, place: Place, listing: Listing, digests: Mapping[str, FileDigest]
    ) -> SourceFiles:
        unexpected = unexpected_files(
            self._source, digests, str(place), strict=self._settings.strict
        )
        return SourceFiles(
            folder=self._staging.folder,
            origin=str(place),
            repository=place.repository,
            revision=listing.revision,
            digests=digests,
            unexpected=unexpected,
            is_ours=True,
        )
