"""What is asked of an install, and what it did."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cosykit.errors import InputError
from cosykit.hub.bundle import Bundle
from cosykit.runtime.providers import Provider
from cosykit.spec import Precision, VocoderPrecision


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the files of a model are to come from, where the user says so.

    Attributes:
        folder: A folder with the released files, in place of a hub.
        repository: Another repository than the catalogue's.
        revision: Branch, tag or commit.
    """

    folder: Path | None = None
    repository: str | None = None
    revision: str | None = None

    def __post_init__(self) -> None:
        """Check that the parts do not contradict each other.

        Raises:
            InputError: They do.
        """
        if self.folder and (self.repository or self.revision):
            raise InputError(
                "files come from a folder or from a repository, not from both",
                hint="Leave out --from, or --repo and --revision",
            )


@dataclass(frozen=True, slots=True)
class Wish:
    """What a model is to be like once it is installed.

    Attributes:
        precision: Of the language model and the flow; `auto` takes what is installed,
            and what suits the machine where nothing is.
        vocoder: Of the vocoder, likewise.
        provider: Provider that the model will run on.
        only_repair: Whether nothing is to be added to what is installed.
        keep_source: Whether the released files stay on the disk.
    """

    precision: Precision | Literal["auto"] = "auto"
    vocoder: VocoderPrecision | Literal["auto"] = "auto"
    provider: Provider | Literal["auto"] = "auto"
    only_repair: bool = False
    keep_source: bool = False


@dataclass(frozen=True, slots=True)
class InstallResult:
    """What an install did.

    Attributes:
        action: `present` when the bundle was there and whole, otherwise what was done.
    """

    bundle: Bundle
    action: Literal["present", "installed", "extended", "repaired"]
