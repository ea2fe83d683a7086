"""Speak sentences, let whisper write them down, and count the errors.

    python -m venv hear
    hear/bin/pip install faster-whisper jiwer opencc-python-reimplemented
    bin/cosykit say ...                      # once, so that the model is there
    .venv/bin/python tools/intelligibility/measure.py speak zh zf_xiaoxiao spoken/
    hear/bin/python tools/intelligibility/measure.py score zh spoken/ whisper-base

The first step needs CosyKit, the second only faster-whisper and a model of it; so that
neither drags the other's packages along, they run in environments of their own.

Besides `zh`, `en`, `ja` and `mixed` there are two harder sets: `mixed-words`, single
English words in Chinese, some of which whisper translates, and `ja-other`, Japanese
with words that can be spelt in several ways.
"""

import csv
import re
import sys
import unicodedata
from pathlib import Path

_NUMERALS = {
    **{char: value for value, char in enumerate("零一二三四五六七八九")},
    **{str(value): value for value in range(10)},
    **{"〇": 0, "两": 2, "十": 10, "百": 100, "千": 1000},
}
_NUMBER = re.compile(f"[{''.join(_NUMERALS)}]+")
# How Chinese and Japanese say what whisper writes as signs.
_SIGNS = (
    (r"(?<=\d),(?=\d{3})", ""),
    (r"(\d+):(\d+)", r"\1点\2分"),
    (r"(?<=\d)\.(?=\d)", "点"),
)
_PERCENT = {"ja": r"\1パーセント", "zh": r"百分之\1", "mixed": r"百分之\1"}

SENTENCES = Path(__file__).with_name("sentences.tsv")


def sentences(language: str) -> list[tuple[str, str]]:
    """List the texts of a language and what should be heard."""
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [(row[1], row[2] or row[1]) for row in rows if row[0] == language]


def speak(language: str, voice: str, folder: Path) -> None:
    """Write every sentence as a numbered WAV file."""
    import cosykit

    folder.mkdir(parents=True, exist_ok=True)
    with cosykit.load() as tts:
        for number, (text, _) in enumerate(sentences(language)):
            tts.synthesize(text, voice=voice).save(folder / f"{number:03}.wav")


def score(language: str, folder: Path, model: str) -> None:
    """Transcribe the files and print the error rate of each and of all."""
    import jiwer
    from faster_whisper import WhisperModel

    sentences_of, language = language, language.partition("-")[0]
    spoken_as = {"mixed": "zh"}.get(language, language)
    prompt = "以下是普通话的句子。" if spoken_as == "zh" else None
    whisper = WhisperModel(model, device="cpu", compute_type="int8")
    pairs = []
    for number, (_, reference) in enumerate(sentences(sentences_of)):
        segments, _ = whisper.transcribe(
            str(folder / f"{number:03}.wav"),
            language=spoken_as,
            beam_size=5,
            temperature=0.0,
            condition_on_previous_text=False,
            initial_prompt=prompt,
        )
        heard = "".join(segment.text for segment in segments)
        pairs.append((plain(reference, language), plain(heard, language)))
        rate = _error_rate([pairs[-1]], language, jiwer)
        print(f"{rate:6.1%}  {heard}" if rate else f"{rate:6.1%}")
    print(f"{_error_rate(pairs, language, jiwer):6.2%}  of {len(pairs)} sentences")


def _error_rate(pairs: list[tuple[str, str]], language: str, jiwer: object) -> float:
    rate = getattr(jiwer, "wer" if language == "en" else "cer")
    references, hypotheses = zip(*pairs, strict=True)
    return float(rate(list(references), list(hypotheses)))


def plain(text: str, language: str) -> str:
    """Keep what is spoken: letters and digits, words apart in English.

    Numbers become digits on both sides, except in English.
    """
    text = unicodedata.normalize("NFKC", text).lower()
    if language != "en":
        text = _with_digits(text, language)
    if language == "en":
        return " ".join(re.sub(r"[^\w]+", " ", text.replace("'", "")).split())
    if language in ("zh", "mixed"):
        from opencc import OpenCC

        text = OpenCC("t2s").convert(text)
    return "".join(c for c in text if unicodedata.category(c)[0] in "LN")


def _with_digits(text: str, language: str) -> str:
    """Write the numbers of Chinese and Japanese alike, in digits."""
    text = re.sub(r"(\d+(?:\.\d+)?)%", _PERCENT[language], text)
    for sign, spoken in _SIGNS:
        text = re.sub(sign, spoken, text)
    text = text.replace("兩", "两")
    return _NUMBER.sub(lambda number: _in_digits(number.group()), text)


def _in_digits(numeral: str) -> str:
    """Write 百五十 as 150 and 二零二四 as 2024."""
    values = [_NUMERALS[char] for char in numeral]
    if all(value < 10 for value in values):
        return "".join(map(str, values))
    total = digit = 0
    for value in values:
        if value < 10:
            digit = 10 * digit + value
        else:
            total, digit = total + max(digit, 1) * value, 0
    return str(total + digit)


if __name__ == "__main__":
    step, language, *rest = sys.argv[1:]
    if step == "speak":
        speak(language, rest[0], Path(rest[1]))
    else:
        score(language, Path(rest[0]), rest[1])
