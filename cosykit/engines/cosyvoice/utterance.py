"""One piece of a text on its way from text tokens to samples."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cosykit.errors import ComputationError
from cosykit.seams import Vocoder, VocoderStream
from cosykit.synthesis.flow.chunks import Chunk, Chunks, Hops
from cosykit.synthesis.flow.stream import FlowPrompt, FlowStream, drawn_noise
from cosykit.synthesis.lm.length import LengthLimits
from cosykit.synthesis.lm.sampling import Choice
from cosykit.synthesis.text.pieces import TextPiece
from cosykit.types import Sampling

# What the random numbers of an utterance are drawn for.
_TOKENS, _NOISE, _SOURCE = range(3)


@dataclass(slots=True, eq=False)
class Utterance:
    """What is known of an utterance so far.

    Attributes:
        piece: Its text; empty where speech is said again.
        seed: Of the request and the utterance's place in it.
        limits: Bounds on its speech tokens.
        sampling: How they are chosen.
        chunks: Which tokens are spoken in one go.
        flow: Its way from tokens to a mel.
        vocoder: Its way from the mel to samples.
        tokens: Speech tokens so far.
        ended: Whether these are all.
        ran_out: Whether it ended for want of room rather than by itself.
        failure: Why it cannot go on; it has ended then.
        attempt: How often it was begun anew.
        is_rendered: Whether tokens of it went into the flow already.
    """

    piece: TextPiece
    seed: tuple[int, ...]
    limits: LengthLimits
    sampling: Sampling
    chunks: Chunks
    flow: FlowStream
    vocoder: VocoderStream
    tokens: list[int] = field(default_factory=list)
    ended: bool = False
    ran_out: bool = False
    failure: Exception | None = None
    attempt: int = 0
    is_rendered: bool = False
    _generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        """Start the random numbers."""
        self._generator = self._seeded()

    def begin_anew(self) -> None:
        """Forget the tokens and draw others."""
        self.attempt += 1
        self.tokens.clear()
        self.ended = self.ran_out = False
        self._generator = self._seeded()

    def choice(self) -> Choice:
        """Say how the next token is to be chosen; every call draws anew."""
        return Choice(
            recent=self.tokens[-self.sampling.win_size :],
            draws=(self._generator.random(), self._generator.random()),
            parameters=self.sampling,
            may_end=len(self.tokens) >= self.limits.fewest,
        )

    def take(self, token: int | None, end_token: int) -> None:
        """Take the next token.

        Args:
            token: None if none could be chosen.
            end_token: The one that ends the speech.
        """
        if token is None:
            # Others in the batch go on.
            self.failure, self.ended = ComputationError("the language model"), True
        elif token == end_token:
            self.ended = True
        else:
            self.tokens.append(token)
            self.ended = self.ran_out = len(self.tokens) >= self.limits.most

    @property
    def missing_tokens(self) -> int | None:
        """How many the next chunk still needs, as far as that is known."""
        return self.chunks.missing(len(self.tokens), ended=self.ended)

    def next_chunk(self) -> Chunk | None:
        """Give the next tokens that can be rendered, if there are enough."""
        chunk = self.chunks.next(len(self.tokens), ended=self.ended)
        self.is_rendered |= chunk is not None
        return chunk

    def _seeded(self) -> np.random.Generator:
        return np.random.default_rng((*self.seed, _TOKENS, self.attempt))


@dataclass(frozen=True, slots=True)
class Manner:
    """How the utterances of a request are spoken, the same for all of them.

    Attributes:
        as_upstream: See `Schedule`.
    """

    prompt: FlowPrompt
    mels: int
    hops: Hops
    as_upstream: bool
    sampling: Sampling
    speed: float
    seed: int

    def utterance(
        self, piece: TextPiece, place: int, limits: LengthLimits, vocoder: Vocoder
    ) -> Utterance:
        """Begin the utterance at a place of the request."""
        seed = (self.seed, place)
        flow = FlowStream(
            self.prompt,
            drawn_noise((*seed, _NOISE), self.mels),
            speed=self.speed,
            as_upstream=self.as_upstream,
        )
        return Utterance(
            piece=piece,
            seed=seed,
            limits=limits,
            sampling=self.sampling,
            chunks=Chunks(self.hops),
            flow=flow,
            vocoder=vocoder.begin((*seed, _SOURCE)),
        )

    def spoken_already(self, tokens: Sequence[int], vocoder: Vocoder) -> Utterance:
        """Begin an utterance whose speech tokens are known."""
        size = len(tokens)
        nothing = TextPiece("", np.zeros(0, np.int64))
        utterance = self.utterance(nothing, 0, LengthLimits(size, size), vocoder)
        utterance.tokens = list(tokens)
        utterance.ended = True
        return utterance
