"""Gather the files that one hub lists: keep what is whole, fetch the rest."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from cosykit.config.schema import HubSettings
from cosykit.errors import HubError, InputError, quoted
from cosykit.hub.catalog import HubSource
from cosykit.hub.declared import DeclaredFile, Listing
from cosykit.hub.download import Download
from cosykit.hub.http import open_client
from cosykit.hub.hubs import Place
from cosykit.hub.progress import Report, Say, Transfer
from cosykit.hub.retry import Patience
from cosykit.hub.sources import (
    SourceFiles,
    refused_by_strict,
    replaced_since,
    unexpected_files,
    used_all_the_same,
)
from cosykit.hub.space import require_space
from cosykit.hub.staging import Staging
from cosykit.hub.verify import FileDigest

_REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Order:
    """What to fetch.

    Attributes:
        repository: Another repository than the catalogue's, such as a private copy.
        revision: Branch, tag or commit; None for the hub's main branch.
        revision_of: Repository that the revision is of; of others, which call it
            otherwise, the main branch is taken. None for all.
        only: Names of the files to fetch; None for all that the model needs.
        expected: What files have to be, as those that a bundle was made of.
        conversion_ratio: Disk space that conversion will need on top, as a multiple of
            the size of the files.
    """

    repository: str | None = None
    revision: str | None = None
    revision_of: str | None = None
    only: Collection[str] | None = None
    expected: Mapping[str, FileDigest] = field(default_factory=dict)
    conversion_ratio: float = 1.0

    def __post_init__(self) -> None:
        """Check the names of the repository and of the revision.

        Raises:
            InputError: One of them is none.
        """
        name, revision = self.repository, self.revision
        if name is not None and not _REPOSITORY.fullmatch(name):
            raise InputError(
                f"{quoted(name)} is no repository of a hub",
                hint="Write it as OWNER/NAME",
                param="repo",
            )
        if revision is not None and not revision.isprintable():
            raise InputError(
                f"{revision!r} is no revision of a repository",
                hint="Name a branch, a tag or a commit",
                param="revision",
            )

    def revision_at(self, place: Place) -> str | None:
        """Say which revision to take there; None for the main branch."""
        return self.revision if self.revision_of in (None, place.repository) else None


class Gathering:
    """The files of a model on their way into its staging folder."""

    def __init__(
        self,
        source: HubSource,
        staging: Staging,
        settings: HubSettings,
        order: Order,
        say: Say,
        report: Report,
    ) -> None:
        self._source = source
        self._staging = staging
        self._settings = settings
        self._order = order
        self._say = say
        self._report = report
        self._sizes: Mapping[str, int] = {}
        self._arrived: dict[str, int] = {}

    def complete(
        self, place: Place, listing: Listing, patience: Patience
    ) -> SourceFiles:
        """Have every file on the disk as the hub lists it.

        Raises:
            ContentError: A file is not what is listed; the list may be out of date.
            HubError: The hub does not give a file, or has another than is expected, or
                than `hub.strict` wants.
            ResourceError: No space, no permission, or the disk fails.
        """
        wanted = self._wanted(place, listing)
        self._compare_with_expected(place, wanted)
        self._compare_with_catalogue(place, wanted)
        digests = self._staging.whole_files(wanted)
        self._prepare(wanted, digests)
        self._staging.save_listing(listing)
        with open_client(self._settings.timeout_s) as client:
            for path in wanted:
                if path not in digests:
                    patience.renew()
                    arrived = partial(self._tell, path)
                    download = Download(client, place, listing, path, arrived)
                    target = self._staging.folder / path
                    digests[path] = download.run(target, patience)
        return self._source_files(place, listing, digests)

    def present(self, place: Place, listing: Listing) -> SourceFiles | None:
        """Give what is on the disk, if that is every file of a list.

        Raises:
            HubError: `hub.strict` does not want a file.
            ResourceError: A file cannot be read.
        """
        wanted = self._wanted(place, listing)
        digests = self._staging.whole_files(wanted)
        if len(digests) < len(wanted):
            return None
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

    def _compare_with_expected(
        self, place: Place, wanted: Mapping[str, DeclaredFile]
    ) -> None:
        """Refuse other files than are expected, before they are fetched."""
        expected = self._order.expected
        others = [
            path
            for path, declared in wanted.items()
            if path in expected and not declared.may_be(expected[path])
        ]
        if others:
            raise replaced_since(others, str(place), self._staging.model)

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
        if others:
            self._say(used_all_the_same(others, str(place)))

    def _prepare(
        self, wanted: Mapping[str, DeclaredFile], whole: Collection[str]
    ) -> None:
        """Check the space for all that is to come, and tell where each file stands."""
        self._sizes = {path: declared.size_bytes for path, declared in wanted.items()}
        self._arrived = {
            path: size_bytes
            if path in whole
            else self._staging.begun_bytes(path, size_bytes)
            for path, size_bytes in self._sizes.items()
        }
        total_bytes = sum(self._sizes.values())
        require_space(
            self._staging.models_dir,
            total_bytes
            - sum(self._arrived.values())
            + round(total_bytes * self._order.conversion_ratio),
            self._staging.model,
        )
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
