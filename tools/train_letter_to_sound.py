"""Train `english/data/letter_to_sound.xz` on the dictionary beside it.

    python tools/train_letter_to_sound.py              # 2 minutes
    python tools/train_letter_to_sound.py --held-out   # measure on words left out

Of words left out at random, 8.7 % of the phonemes and stress marks are wrong (37 % of
the words); of words whose whole family was left out (all that begin with the same five
letters), 11.7 % (48 %). Without stress marks it is 8.3 % (41 %) of the latter.

The steps: align each letter with none to two sounds (expectation maximisation with
Viterbi paths), count n-grams of the aligned units from the end of the words to their
beginning, smooth them (modified Kneser-Ney), keep those that tell the most (as in
Stolcke's entropy pruning), and number them as a trie.
"""

import lzma
import math
import random
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from cosykit.synthesis.text.english.inflection import analyses
from cosykit.synthesis.text.english.letter_to_sound import (
    BITS_PER_STEP,
    EDGE,
    LetterToSound,
)
from cosykit.synthesis.text.english.lexicon import load_lexicon

Sounds = tuple[str, ...]
Unit = tuple[str, Sounds]

OUTPUT = (
    Path(__file__).parent.parent
    / "cosykit/synthesis/text/english/data/letter_to_sound.xz"
)

ORDER = 7
NGRAMS = 228_000
RAREST_UNIT = 15
MOST_SOUNDS = 2
ROUNDS = 5

_SOUND = re.compile("[ˈˌ]?.")
_STRESSES = "ˈˌ"


def main() -> None:
    """Train on everything and write the model, or measure on words left out."""
    words = stems()
    if "--held-out" in sys.argv:
        measure(words, held_out=lambda word: zlib.crc32(word[:5].encode()) % 20 == 0)
        measure(words, held_out=lambda word: zlib.crc32(word.encode()) % 20 == 0)
    else:
        packed = lzma.compress(train(words), preset=9 | lzma.PRESET_EXTREME)
        OUTPUT.write_bytes(packed)
        _say(f"{len(packed)} bytes")


def stems() -> dict[str, Sounds]:
    """List what to learn from: no regular inflections, nothing derived.

    Derived entries write unstressed vowels in another way than people do: with them,
    words that people wrote are read with an eighth more errors.
    """
    entries = {
        word.lower(): entry.phonemes
        for word, entry in load_lexicon()
        if entry.certain and len(word) > 1 and re.fullmatch("[A-Z]?[a-z]+", word)
    }
    return {
        word: tuple(_SOUND.findall(phonemes))
        for word, phonemes in entries.items()
        if not any(stem in entries for stem, _ in analyses(word))
    }


def train(words: Mapping[str, Sounds]) -> bytes:
    """Make a model, in the form that `LetterToSound` reads."""
    aligned = align(words)
    seen = Counter(unit for units in aligned for unit in units)
    units = sorted(unit for unit, count in seen.items() if count >= RAREST_UNIT)
    number = {unit: index for index, unit in enumerate(units, start=EDGE + 1)}
    edge = bytes([EDGE])
    sequences = [
        edge + bytes(number[unit] for unit in reversed(word)) + edge
        for word in aligned
        if all(unit in number for unit in word)
    ]
    _say(f"{len(sequences)} words, {len(units)} units")
    model = Ngrams(sequences)
    model.prune(NGRAMS)
    names = [":", *(f"{letter}:{''.join(sounds)}" for letter, sounds in units)]
    return " ".join(names).encode() + b"\n" + model.packed()


def align(words: Mapping[str, Sounds]) -> list[list[Unit]]:
    """Say of every letter which sounds it stands for."""
    cost = {
        (letter, sounds): 3.0 * (len(sounds) != 1)
        for word, spoken in words.items()
        for letter in set(word)
        for sounds in _runs(spoken)
    }
    for turn in range(ROUNDS):
        paths = [_align_word(word, spoken, cost) for word, spoken in words.items()]
        aligned = [path for path in paths if path]
        counts = Counter(
            (letter, _bare(sounds)) for path in aligned for letter, sounds in path
        )
        totals: Counter[str] = Counter()
        for (letter, _), count in counts.items():
            totals[letter] += count
        cost = {
            unit: math.log(totals[unit[0]] / count) for unit, count in counts.items()
        }
        _say(f"alignment {turn + 1}: {len(cost)} units")
    return aligned


def _runs(spoken: Sounds) -> Iterator[Sounds]:
    for start in range(len(spoken)):
        for length in range(MOST_SOUNDS + 1):
            yield _bare(spoken[start : start + length])


def _bare(sounds: Sequence[str]) -> Sounds:
    return tuple(sound.lstrip(_STRESSES) for sound in sounds)


def _align_word(
    word: str, spoken: Sounds, cost: Mapping[Unit, float]
) -> list[Unit] | None:
    bare = _bare(spoken)
    best: list[dict[int, tuple[float, int]]] = [{0: (0.0, 0)}]
    for letter in word:
        reached: dict[int, tuple[float, int]] = {}
        for start, (so_far, _) in best[-1].items():
            for end in range(start, min(start + MOST_SOUNDS, len(bare)) + 1):
                total = so_far + cost.get((letter, bare[start:end]), 20.0)
                if end not in reached or total < reached[end][0]:
                    reached[end] = total, start
        best.append(reached)
    end = len(bare)
    if end not in best[-1]:
        return None
    path = []
    for place in range(len(word), 0, -1):
        start = best[place][end][1]
        path.append((word[place - 1], spoken[start:end]))
        end = start
    return path[::-1]


class Ngrams:
    """Probabilities of a unit after others, backing off to fewer of them.

    Args:
        sequences: Words as bytes, one a unit, with an edge on both sides.
    """

    def __init__(self, sequences: Sequence[bytes]) -> None:
        self._counts = [Counter[bytes]() for _ in range(ORDER + 1)]
        for word in sequences:
            for end in range(2, len(word) + 1):
                for start in range(max(0, end - ORDER), end):
                    self._counts[end - start][word[start:end]] += 1
        self._logp: list[dict[bytes, float]] = [{b"": 0.0}]
        self._backoff: dict[bytes, float] = {}
        for order in range(1, ORDER + 1):
            self._logp.append(self._smoothed(order))

    def _smoothed(self, order: int) -> dict[bytes, float]:
        counts = self._continuations(order)
        discounts = _discounts(counts)
        totals: Counter[bytes] = Counter()
        discounted: defaultdict[bytes, float] = defaultdict(float)
        for ngram, count in counts.items():
            totals[ngram[:-1]] += count
            discounted[ngram[:-1]] += discounts[min(count, 3)]
        for history, total in totals.items():
            self._backoff[history] = math.log(discounted[history] / total)
        probabilities = {}
        for ngram, count in counts.items():
            history = ngram[:-1]
            lower = math.exp(self._logp[order - 1][ngram[1:]]) if history else 0.0
            rest = discounted[history] * lower
            kept = count - discounts[min(count, 3)]
            probabilities[ngram] = math.log((kept + rest) / totals[history])
        return probabilities

    def _continuations(self, order: int) -> Mapping[bytes, int]:
        if order == ORDER:
            return self._counts[order]
        counts = Counter(ngram[1:] for ngram in self._counts[order + 1])
        for ngram, count in self._counts[order].items():
            if ngram[0] == EDGE or ngram not in counts:
                counts[ngram] = count
        return counts

    def _log_probability(self, ngram: bytes) -> float:
        penalty = 0.0
        while ngram not in self._logp[len(ngram)]:
            penalty += self._backoff.get(ngram[:-1], 0.0)
            ngram = ngram[1:]
        return penalty + self._logp[len(ngram)][ngram]

    def prune(self, size: int) -> None:
        """Keep the n-grams that change the predictions most, and all single units."""
        gains = []
        for order in range(2, ORDER + 1):
            for ngram, logp in self._logp[order].items():
                without = self._backoff[ngram[:-1]] + self._log_probability(ngram[1:])
                gain = self._counts[order][ngram] * abs(logp - without)
                gains.append((gain, ngram))
        kept: set[bytes] = set()
        for _, ngram in sorted(gains, reverse=True):
            if len(kept) >= size:
                break
            kept.update(ngram[:length] for length in range(2, len(ngram) + 1))
        for order in range(2, ORDER + 1):
            self._logp[order] = {
                ngram: logp
                for ngram, logp in self._logp[order].items()
                if ngram in kept
            }
        self._rebalance()

    def _rebalance(self) -> None:
        """Give what the lost n-grams had to the shorter histories."""
        self._backoff = {}
        for order in range(2, ORDER + 1):
            own: defaultdict[bytes, float] = defaultdict(float)
            shorter: defaultdict[bytes, float] = defaultdict(float)
            for ngram, logp in self._logp[order].items():
                own[ngram[:-1]] += math.exp(logp)
                shorter[ngram[:-1]] += math.exp(self._log_probability(ngram[1:]))
            for history, mass in own.items():
                left, taken = max(1 - mass, 1e-6), max(1 - shorter[history], 1e-6)
                self._backoff[history] = math.log(left / taken)

    def packed(self) -> bytes:
        """Number the n-grams level by level; children of one node are neighbours."""
        nodes = [ngram for level in self._logp for ngram in sorted(level)]
        children = Counter(ngram[:-1] for ngram in nodes[1:])
        return b"".join((
            bytes([EDGE]) + bytes(ngram[-1] for ngram in nodes[1:]),
            bytes(children[ngram] for ngram in nodes),
            bytes(_steps(self._logp[len(ngram)][ngram]) for ngram in nodes),
            bytes(_steps(self._backoff.get(ngram, 0.0)) for ngram in nodes),
        ))  # fmt: skip


def _discounts(counts: Mapping[bytes, int]) -> tuple[float, ...]:
    seen = Counter(count for count in counts.values() if count <= 4)
    ratio = seen[1] / (seen[1] + 2 * seen[2]) if seen[1] else 0.0
    return (
        0.0,
        *(n - (n + 1) * ratio * seen[n + 1] / seen[n] if seen[n] else 0.0
          for n in (1, 2, 3)),
    )  # fmt: skip


def _steps(log_probability: float) -> int:
    return max(0, min(255, round(-log_probability / math.log(2) / BITS_PER_STEP)))


def measure(words: Mapping[str, Sounds], held_out: Callable[[str], bool]) -> None:
    """Train without some words and tell how they are read."""
    model = LetterToSound(
        train({word: spoken for word, spoken in words.items() if not held_out(word)})
    )
    left_out = [word for word in words if held_out(word)]
    sample = random.Random(0).sample(left_out, 2000)  # noqa: S311
    for name, prepare in (("with stress", "".join), ("sounds only", _without_stress)):
        errors, sounds, wrong = 0, 0, 0
        for word in sample:
            expected = prepare(words[word])
            distance = _edit_distance(expected, prepare(model.phonemes(word)))
            errors, sounds = errors + distance, sounds + len(expected)
            wrong += distance > 0
        _say(
            f"{name}: {errors / sounds:.1%} of phonemes, "
            f"{wrong / len(sample):.1%} of words wrong"
        )


def _without_stress(sounds: Iterable[str]) -> str:
    return "".join(sounds).translate(dict.fromkeys(map(ord, _STRESSES)))


def _edit_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        previous, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            previous, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, previous + (a != b)),
            )
    return row[-1]


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
