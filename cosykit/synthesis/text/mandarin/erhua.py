"""儿 as a suffix, which melts into the syllable before it: 花儿 is huār."""

from dataclasses import replace

from cosykit.synthesis.text.mandarin.words import Clause, Word

_FULL_SYLLABLES = (
    "女儿 婴儿 少儿 幼儿 孤儿 胎儿 健儿 宠儿 男儿 产儿 小儿 患儿 弃儿 混血儿 新生儿 "
    "早产儿 畸形儿 低能儿 弄潮儿 幸运儿 育儿 托儿 生儿 妻儿 乳儿 孙儿 侄儿 吾儿 我儿 "
    "爱儿 安琪儿 可儿 婉儿 宛儿 双儿 雪儿 喜儿 莺儿 采儿"
)
"""Children and names, in which 儿 is a syllable of its own."""


def melt_er(clause: Clause) -> list[Word]:
    """Melt the suffix 儿 into the syllable before it."""
    melted: list[Word] = []
    for word in clause:
        if word.text == "儿" and melted and melted[-1].syllables:
            before = melted.pop()
            word = replace(
                before,
                text=before.text + word.text,
                syllables=before.syllables + word.syllables,
            )
        if _has_suffix(word):
            *rest, last, _ = word.syllables
            word = word.spoken([*rest, replace(last, rhotic=True)])
        melted.append(word)
    return melted


def _has_suffix(word: Word) -> bool:
    return (
        len(word.text) > 1
        and word.text.endswith("儿")
        and not word.text.endswith(tuple(_FULL_SYLLABLES.split()))
    )
