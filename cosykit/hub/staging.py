"""The folder that the released files of a model are gathered in.

    models/<model id>/source/
      listing.json        what the hub declares of its files: what they are checked with
      llm.pt ...          whole files, checked
      flow.pt.part ...    beginnings (see partial.py)

It outlives the process: whatever is whole or begun is not fetched again.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from cosykit.hub.atomic import delete_folder, replacing, translate_os_error
from cosykit.hub.declared import DeclaredFile, Listing, digest_if_whole
from cosykit.hub.partial import beginning_of
from cosykit.hub.verify import FileDigest


class Staging:
    """The files of one model that are on the disk."""

    def __init__(self, models_dir: Path, model: str) -> None:
        self.models_dir = models_dir
        self.model = model
        self.folder = models_dir / model / "source"

    @property
    def _listing_path(self) -> Path:
        return self.folder / "listing.json"

    def listing(self) -> Listing | None:
        """Read what the files were last held against."""
        try:
            return Listing.model_validate_json(self._listing_path.read_bytes())
        except (OSError, ValidationError):
            return None

    def save_listing(self, listing: Listing) -> None:
        """Write down what the files are held against.

        Raises:
            ResourceError: The folder cannot be written.
        """
        with replacing(self._listing_path) as temporary:
            temporary.write_text(listing.model_dump_json(indent=2) + "\n", "utf-8")

    def whole_files(self, wanted: Mapping[str, DeclaredFile]) -> dict[str, FileDigest]:
        """Read every file that is there; give the digests of those that are whole.

        Raises:
            ResourceError: A file cannot be read.
        """
        whole = {}
        for path, declared in wanted.items():
            try:
                digest = digest_if_whole(self.folder / path, declared)
            except OSError as error:
                raise translate_os_error(error, self.folder / path) from error
            if digest:
                whole[path] = digest
        return whole

    @property
    def size_bytes(self) -> int:
        """What the folder takes on the disk."""
        if not self.folder.is_dir():
            return 0
        return sum(path.stat().st_size for path in self.folder.iterdir())

    def discard(self) -> None:
        """Delete all of it.

        Raises:
            ResourceError: A file cannot be deleted.
        """
        delete_folder(self.folder)

    def begun_bytes(self, path: str, most_bytes: int) -> int:
        """Tell how much of a file that is not whole is there."""
        try:
            size_bytes = beginning_of(self.folder / path).stat().st_size
        except OSError:
            return 0
        return min(size_bytes, most_bytes)

    def problems(self) -> Mapping[str, str]:
        """Read every file that is there; map each bad one to what is wrong.

        Raises:
            ResourceError: A file cannot be read.
        """
        listing = self.listing()
        if listing is None:
            return {}
        there = {
            path: declared
            for path, declared in listing.files.items()
            if (self.folder / path).is_file()
        }
        whole = self.whole_files(there)
        return {
            path: "it is not what the hub declared"
            for path in there
            if path not in whole
        }
