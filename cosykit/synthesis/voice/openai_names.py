"""OpenAI's names for voices, so that clients written for it work unchanged.

Its voices speak any language; ours go by the gender people hear and the language of
the text.
"""

from cosykit.types import Gender

_NAMES: dict[Gender, tuple[str, ...]] = {
    "female": ("alloy", "coral", "marin", "nova", "sage", "shimmer"),
    "male": ("ash", "ballad", "cedar", "echo", "fable", "onyx", "verse"),
}


def openai_names(gender: Gender | None) -> tuple[str, ...]:
    """List the names that a voice answers to."""
    return _NAMES[gender] if gender else ()


def openai_gender(name: str) -> Gender | None:
    """Tell the gender of one of OpenAI's voices; None where the name is not theirs."""
    return next((gender for gender, names in _NAMES.items() if name in names), None)
