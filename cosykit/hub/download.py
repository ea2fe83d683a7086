"""Bring one file here, however often the way to it breaks."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx2

from cosykit.hub.declared import Listing
from cosykit.hub.failures import ContentError, TransientError
from cosykit.hub.http import arriving, request
from cosykit.hub.hubs import Place
from cosykit.hub.partial import Partial
from cosykit.hub.replies import check_status, looks_like_page, page_instead
from cosykit.hub.retry import Patience
from cosykit.hub.verify import FileDigest

_PROGRESS_BYTES = 256 << 10
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d+/(\d{1,18}|\*)", re.ASCII)


class Download:
    """One file on its way from a hub.

    Args:
        arrived: Hears how much has arrived, after every block.
    """

    def __init__(
        self,
        client: httpx2.Client,
        place: Place,
        listing: Listing,
        path: str,
        arrived: Callable[[int], None],
    ) -> None:
        self._client = client
        self._access = place.hub.access
        self._address = place.hub.file_address(listing, path)
        self._hub_host = httpx2.URL(self._address).host
        self._declared = listing.files[path]
        self._path = path
        self._arrived = arrived

    def run(self, target: Path, patience: Patience) -> FileDigest:
        """Fetch what is missing of the file, check all of it, and put it in its place.

        Raises:
            TransientError: The hub failed more often than patience allows.
            ContentError: The content is not what the hub declares.
            HubError: The hub does not give the file.
            ResourceError: The file cannot be written.
        """
        with Partial(target, self._declared) as partial:
            mark_bytes = partial.size_bytes
            self._arrived(partial.size_bytes)
            while not partial.is_full:
                try:
                    self._receive(partial)
                except TransientError as error:
                    # Only what never arrived before counts, and only a good deal of it:
                    # a server that starts over each time, or gives one byte each time,
                    # must not keep us for ever.
                    if partial.size_bytes >= mark_bytes + _PROGRESS_BYTES:
                        mark_bytes = partial.size_bytes
                        patience.renew()
                    patience.wait(error)
            return partial.finish()

    def _receive(self, partial: Partial) -> None:
        headers = {**self._access.headers, **self._range_headers(partial)}
        with request(self._client, self._address, headers) as response:
            if response.status_code == 416 and partial.size_bytes:
                partial.restart()
                raise TransientError(f"{self._hub_host} cannot go on with {self._path}")
            check_status(response, self._path, self._access)
            for number, block in enumerate(arriving(response)):
                if number == 0:
                    self._accept(response, block, partial)
                partial.write(block)
                self._arrived(min(partial.size_bytes, self._declared.size_bytes))
                if partial.size_bytes > self._declared.size_bytes:
                    break
        if not partial.is_full:
            raise TransientError(f"{self._path} ended early")

    def _range_headers(self, partial: Partial) -> dict[str, str]:
        if not partial.size_bytes:
            return {}
        headers = {"Range": f"bytes={partial.size_bytes}-"}
        etag = partial.etag_at(self._address)
        # A weak tag promises no equal bytes, and one of other letters cannot be sent;
        # the hash at the end decides then.
        if etag and etag.isascii() and not etag.startswith("W/"):
            headers["If-Range"] = etag
        return headers

    def _accept(
        self, response: httpx2.Response, block: bytes, partial: Partial
    ) -> None:
        """Look at the first bytes before what is on the disk is given up for them."""
        start, size = self._content_range(response)
        if start == 0 and looks_like_page(block):
            raise page_instead(response.url.host, self._path)
        if size not in (None, self._declared.size_bytes):
            raise ContentError(
                f"{self._path} has {size} bytes at {response.url.host}, "
                f"{self._hub_host} declares {self._declared.size_bytes}",
                hint="The hub may be changing it right now; try again later",
            )
        if start not in (0, partial.size_bytes):
            raise TransientError(f"another part of {self._path} came than asked")
        if start == 0 and partial.size_bytes:
            partial.restart()
        partial.note_source(self._address, response.headers.get("ETag", ""))

    def _content_range(self, response: httpx2.Response) -> tuple[int, int | None]:
        """Find where the answer starts and, where it tells, the size of the whole."""
        if response.status_code == 206:
            match = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
            if match is None:
                raise TransientError(f"{self._path} came without its range")
            return int(match[1]), int(match[2]) if match[2].isdecimal() else None
        size = response.headers.get("Content-Length", "")
        plain = "Content-Encoding" not in response.headers
        return 0, int(size) if plain and size.isdecimal() else None
