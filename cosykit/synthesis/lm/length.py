"""How many speech tokens a text may become.

Source: cosyvoice/llm/llm.py TransformerLM.inference
"""

from dataclasses import dataclass

_FEWEST_PER_TEXT_TOKEN = 2
_MOST_PER_TEXT_TOKEN = 20


@dataclass(frozen=True, slots=True)
class LengthLimits:
    """Bounds on the speech tokens of a sequence, the end token not counted.

    Attributes:
        fewest: Before so many the end token is not chosen.
        most: After so many the sequence ends.
    """

    fewest: int
    most: int


def limits_of(text_tokens: int) -> LengthLimits:
    """Give the limits for a text, its prompt not counted."""
    return LengthLimits(
        text_tokens * _FEWEST_PER_TEXT_TOKEN, text_tokens * _MOST_PER_TEXT_TOKEN
    )
