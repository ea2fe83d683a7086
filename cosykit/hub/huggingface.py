"""Hugging Face: list a repository's files and say where each can be had."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, Field, TypeAdapter

from cosykit.errors import HubError
from cosykit.hub.declared import Checksum, DeclaredFile, Listing, SizeBytes
from cosykit.hub.failures import TransientError
from cosykit.hub.http import endless, read_answer
from cosykit.hub.replies import Access

# A page names a thousand files.
_MOST_PAGES = 20


class _Lfs(BaseModel):
    oid: Checksum
    size: SizeBytes


class _TreeEntry(BaseModel):
    type: str
    path: str
    oid: Checksum
    size: SizeBytes
    lfs: _Lfs | None = None

    def declared(self) -> DeclaredFile:
        if self.lfs:
            return DeclaredFile(
                size_bytes=self.lfs.size, algorithm="sha256", checksum=self.lfs.oid
            )
        return DeclaredFile(
            size_bytes=self.size, algorithm="git-blob", checksum=self.oid
        )


class _Revision(BaseModel):
    sha: Annotated[str, Field(pattern="^[0-9A-Za-z._-]{1,100}$")]


_TREE = TypeAdapter(list[_TreeEntry])
_REVISION = TypeAdapter(_Revision)


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """Hugging Face, or a mirror that speaks as it does.

    Attributes:
        endpoint: Its address, without a slash at the end.
        token: Shown to the endpoint and to no other host.
    """

    name: ClassVar[Literal["huggingface"]] = "huggingface"
    title: ClassVar[str] = "Hugging Face"
    token_variable: ClassVar[str] = "HF_TOKEN"  # noqa: S105  (a name, not a token)

    endpoint: str
    token: str | None = field(default=None, repr=False)

    @property
    def access(self) -> Access:
        """What the hub is shown."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return Access(self.token_variable, headers)

    def list_files(
        self, client: httpx2.Client, repository: str, revision: str | None
    ) -> Listing:
        """Ask which files a repository holds at a revision.

        Args:
            revision: Branch, tag or commit; None for the main branch.

        Raises:
            HubError: The hub does not tell.
        """
        commit = self._commit(client, repository, revision or "main")
        tree = f"{self.endpoint}/api/models/{repository}/tree/{quote(commit, safe='')}"
        address = f"{tree}?recursive=true"
        wanted = f"the files of {repository}"
        files = {}
        for _ in range(_MOST_PAGES):
            page = read_answer(client, address, self.access, wanted)
            entries = page.parsed(_TREE)
            files.update({e.path: e.declared() for e in entries if e.type == "file"})
            if not page.next_address:
                return Listing(
                    hub=self.name,
                    repository=repository,
                    revision=commit,
                    asked=revision,
                    files=files,
                )
            address = page.next_address
        raise endless(page.host, wanted)

    def _commit(self, client: httpx2.Client, repository: str, revision: str) -> str:
        """Resolve a branch, which may move while its files are on their way."""
        address = (
            f"{self.endpoint}/api/models/{repository}"
            f"/revision/{quote(revision, safe='')}"
        )
        try:
            return (
                read_answer(client, address, self.access, repository)
                .parsed(_REVISION)
                .sha
            )
        except TransientError:
            raise
        except HubError:
            # Some mirrors lack this route. If more is wrong, the next request says so.
            return revision

    def file_address(self, listing: Listing, path: str) -> str:
        """Say where a file of a listing can be had."""
        revision = quote(listing.revision, safe="")
        return f"{self.endpoint}/{listing.repository}/resolve/{revision}/{quote(path)}"
