"""Open a model of random weights for a command that measures."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from cosykit.cli.output import note

if TYPE_CHECKING:
    from cosykit.config import Settings
    from cosykit.engines.synthesizer import Synthesizer


def made_up(
    settings: "Settings", model: str, tokens: int
) -> "Callable[[Settings], Synthesizer]":
    """Make a model, unless it was made before, and say how to open it.

    Args:
        model: The model whose architecture it has.
        tokens: Speech tokens that every line of a text becomes.

    Raises:
        NotFoundError: There is no such model, or it has no architecture to fill.
        ResourceError: There is too little space.
    """
    from cosykit.ops.synthetic import synthetic_model

    return synthetic_model(settings, model, tokens, note)
