"""ModelScope: list a repository's files and say where each can be had."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal
from urllib.parse import urlencode

import httpx2
from pydantic import BaseModel, Field, TypeAdapter

from cosykit.errors import HubError
from cosykit.hub.declared import Checksum, DeclaredFile, Listing, SizeBytes
from cosykit.hub.http import read_answer
from cosykit.hub.replies import Access, printable


class _File(BaseModel):
    path: str = Field(alias="Path")
    type: str = Field(alias="Type", default="blob")
    size: SizeBytes = Field(alias="Size", default=0)
    sha256: Checksum | Literal[""] = Field(alias="Sha256", default="")

    def declared(self) -> DeclaredFile:
        return DeclaredFile(
            size_bytes=self.size, algorithm="sha256", checksum=self.sha256
        )


class _Content(BaseModel):
    files: Sequence[_File] = Field(alias="Files")


class _Answer(BaseModel):
    code: int = Field(alias="Code")
    message: str = Field(alias="Message", default="")
    content: _Content | None = Field(alias="Data", default=None)


_ANSWER = TypeAdapter(_Answer)


@dataclass(frozen=True, slots=True)
class ModelScope:
    """ModelScope, or a mirror that speaks as it does.

    Attributes:
        endpoint: Its address, without a slash at the end.
        token: Shown to the endpoint and to no other host.
    """

    name: ClassVar[Literal["modelscope"]] = "modelscope"
    title: ClassVar[str] = "ModelScope"
    token_variable: ClassVar[str] = "MODELSCOPE_API_TOKEN"  # noqa: S105  (a name)

    endpoint: str
    token: str | None = field(default=None, repr=False)

    @property
    def access(self) -> Access:
        """What the hub is shown."""
        if not self.token:
            return Access(self.token_variable)
        # Its older routes look at the cookie, its newer ones at the header.
        return Access(
            self.token_variable,
            {
                "Authorization": f"Bearer {self.token}",
                "Cookie": f"m_session_id={self.token}",
            },
        )

    def list_files(
        self, client: httpx2.Client, repository: str, revision: str | None
    ) -> Listing:
        """Ask which files a repository holds at a revision.

        Args:
            revision: Branch or tag; None for the main branch.

        Raises:
            HubError: The hub does not tell.
        """
        wanted = revision or "master"
        query = urlencode({"Revision": wanted, "Recursive": "true"})
        address = f"{self.endpoint}/api/v1/models/{repository}/repo/files?{query}"
        page = read_answer(client, address, self.access, f"the files of {repository}")
        told = page.parsed(_ANSWER)
        if told.code != 200 or told.content is None:
            raise HubError(
                f"{page.host} does not tell the files of {repository} at {wanted}: "
                f"{printable(told.message)}",
                hint="Check the repository and --revision",
            )
        files = {
            file.path: file.declared()
            for file in told.content.files
            if file.type == "blob" and file.sha256
        }
        return Listing(
            hub=self.name,
            repository=repository,
            revision=wanted,
            asked=revision,
            files=files,
        )

    def file_address(self, listing: Listing, path: str) -> str:
        """Say where a file of a listing can be had."""
        query = urlencode({"Revision": listing.revision, "FilePath": path})
        return f"{self.endpoint}/api/v1/models/{listing.repository}/repo?{query}"
