"""The special tokens, such as `<|zh|>`, whose ids follow those of the ordinary ones.

What is not in the list is ordinary text, `<|endofprompt|>` too.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

FIRST_SPECIAL = 50_257
_LANGUAGES = """
    en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da
    hu ta no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy
    ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht
    ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue
"""
_TASKS = "translate transcribe startoflm startofprev nospeech notimestamps"
_TIMESTAMPS = 1501
_CANDIDATE = re.compile(r"<\|[a-z0-9.]+\|>")


@cache
def special_tokens() -> Mapping[str, int]:
    """Map each special token to its id."""
    names = ["endoftext", "startoftranscript", *_LANGUAGES.split(), *_TASKS.split()]
    names += [f"{number / 50:.2f}" for number in range(_TIMESTAMPS)]
    return {f"<|{name}|>": FIRST_SPECIAL + number for number, name in enumerate(names)}


def split_special(text: str) -> Iterator[tuple[str, int | None]]:
    """Cut a text into special tokens with their ids and what is between, without."""
    known = special_tokens()
    position = 0
    for candidate in _CANDIDATE.finditer(text):
        token = known.get(candidate.group())
        if token is None:
            continue
        yield text[position : candidate.start()], None
        yield candidate.group(), token
        position = candidate.end()
    yield text[position:], None
