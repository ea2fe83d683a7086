"""The tones of 一 and 不, which follow the next syllable.

一 is yì before tones 1 to 3, yí before 4, and keeps yī at the end, as a digit and in
ordinals; 不 is bú before 4. Between the halves of a verb both are neutral: 看一看,
好不好, 看不见.

The model would not do this by itself: told yī tiān its voice stays up (258 to 300 Hz,
zf_xiaoxiao), told yì tiān it falls (296 to 231 Hz).
"""

from cosykit.synthesis.text.mandarin.pinyin import NEUTRAL, Syllable
from cosykit.synthesis.text.mandarin.words import Clause, Word, respoken, whole_words

_DIGITS = frozenset("〇零一二三四五六七八九十幺")
_LARGE = frozenset("百千万亿")
_OPERATORS = frozenset("加减乘除比点")

# Words that 一 closes but that belong to what follows: 这一|天, unlike 统一, 周一.
_OPEN_WORDS = frozenset(f"{char}一" for char in "这那每另某任各有哪同")

# After 一 these make an ordinal without 第: January, number one, class one.
_ORDERED = ("月", "号", "楼", "班", "等", "年级", "级", "中", "审", "把手", "线城市")

# What a verb can reach, after 不: 看不见, 走不动; and what is no verb before it.
_RESULTS = frozenset(
    "了到见起来去及完好懂清住着动出上下开过成掉得惯透定多够死尽全进回通"
)
_NO_VERBS = frozenset(
    "可要岂莫从都就也还再毫绝并无决又才便却而只我你他她们得了的为何若能会很"
)

_FOREIGN = "\0"


def change_yi_and_bu(clause: Clause) -> list[Word]:
    """Speak 一 and 不 as their neighbours want them."""
    chars = "".join(word.text if word.syllables else _FOREIGN for word in clause)
    spoken: list[Syllable | None] = []
    for word in clause:
        spoken += word.syllables or [None]
    closing = _closing_yi(clause)
    weak = _between_doubled(chars) | _before_results(clause)
    changed: list[Syllable] = []
    for place, syllable in enumerate(spoken):
        if syllable is None:
            continue
        following = next(iter(spoken[place + 1 : place + 2]), None)
        if syllable.tone != NEUTRAL and place not in closing:
            if chars[place] == "一":
                syllable = syllable.with_tone(_yi(chars, place, following))
            elif chars[place] == "不":
                syllable = syllable.with_tone(_bu(following))
            if place in weak:
                syllable = syllable.weakened(syllable.tone)
        changed.append(syllable)
    return respoken(clause, changed)


def _yi(chars: str, place: int, following: Syllable | None) -> int:
    before, after = chars[place - 1 : place], chars[place + 1 : place + 2]
    if following is None or _counts(chars, place):
        return 1
    if chars.startswith(_ORDERED, place + 1) or (before == "月" and after == "日"):
        return 1
    return 2 if following.tone == 4 or after in "个下" else 4


def _counts(chars: str, place: int) -> bool:
    """Tell whether 一 is a digit or an ordinal, which keeps its tone."""
    before, after = chars[place - 1 : place], chars[place + 1 : place + 2]
    if before == "第" or before in _DIGITS or after in _DIGITS:
        return True
    if after in _OPERATORS and chars[place + 2 : place + 3] in _DIGITS:
        return "分" not in chars[place + 2 : place + 6]
    summed = before in _OPERATORS and chars[place - 2 : place - 1] in _DIGITS
    return summed and after not in _LARGE


def _bu(following: Syllable | None) -> int:
    return 2 if following is not None and following.tone == 4 else 4


def _closing_yi(clause: Clause) -> frozenset[int]:
    """Return the places where 一 ends a word, as in 统一 and 星期一."""
    places: set[int] = set()
    for start, text, _ in _placed_words(clause):
        if text.endswith("一") and len(text) > 1 and text not in _OPEN_WORDS:
            places.add(start + len(text) - 1)
    return frozenset(places)


def _between_doubled(chars: str) -> frozenset[int]:
    """Return the places of 一 and 不 between the same verb twice."""
    return frozenset(
        place
        for place in range(1, len(chars) - 1)
        if chars[place] in "一不"
        and chars[place - 1] == chars[place + 1]
        and chars[place - 1] not in _DIGITS
        and chars[place - 2 : place - 1] != "一"
    )


def _before_results(clause: Clause) -> frozenset[int]:
    """Return the places where 不 stands between a verb and what it does not reach."""
    places: set[int] = set()
    verb = ""
    for start, text, pos in _placed_words(clause):
        joined = verb + text
        shift = start - len(verb)
        for place in range(1, len(joined) - 1):
            before, after = joined[place - 1], joined[place + 1]
            reached = after in _RESULTS and before not in _NO_VERBS
            if joined[place] == "不" and reached:
                places.add(shift + place)
        verb = text if len(text) == 1 and pos.startswith("v") else ""
    return frozenset(places)


def _placed_words(clause: Clause) -> list[tuple[int, str, str]]:
    """Return the place, the text and the part of speech of every whole word."""
    placed: list[tuple[int, str, str]] = []
    place = 0
    for parts in whole_words(clause):
        text = "".join(part.text if part.syllables else _FOREIGN for part in parts)
        placed.append((place, text, parts[0].pos))
        place += len(text)
    return placed
