"""Stretch the states of speech tokens to the frames of a mel.

Source: cosyvoice/flow/length_regulator.py InterpolateRegulator.inference
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

TOKENS_PER_S = 50
_SAMPLES_PER_S = 22_050
_SAMPLES_PER_FRAME = 256
# At each end so many tokens are stretched apart from the rest, so that consecutive
# chunks of a stream, which overlap by them, agree there to the frame.
OVERLAP_TOKENS = 20


def frames_of(tokens: int) -> int:
    """Count the mel frames that speech tokens become."""
    # In this order, as upstream; the rounding of another may be off by a frame.
    return int(tokens / TOKENS_PER_S * _SAMPLES_PER_S / _SAMPLES_PER_FRAME)


OVERLAP_FRAMES = frames_of(OVERLAP_TOKENS)


def stretch(
    states: Array, prompt_tokens: int, prompt_frames: int, frames: int
) -> Array:
    """Stretch (1, channels, tokens) to (1, channels, prompt and new frames)."""
    prompt, new = states[..., :prompt_tokens], states[..., prompt_tokens:]
    tokens = new.shape[-1]
    parts = [interpolate(prompt, prompt_frames)] if prompt_tokens else []
    if tokens > 2 * OVERLAP_TOKENS:
        head, middle, tail = np.split(
            new, [OVERLAP_TOKENS, tokens - OVERLAP_TOKENS], axis=-1
        )
        parts += [
            interpolate(head, OVERLAP_FRAMES),
            interpolate(middle, frames - 2 * OVERLAP_FRAMES),
            interpolate(tail, OVERLAP_FRAMES),
        ]
    else:
        parts.append(interpolate(new, frames))
    return np.concatenate(parts, axis=-1)


def interpolate(x: Array, size: int) -> Array:
    """Resample the last axis linearly; ends of both lie on ends of their intervals.

    Source: torch.nn.functional.interpolate, mode linear, align_corners False
    """
    length = x.shape[-1]
    steps = np.arange(size, dtype=np.float32) + np.float32(0.5)
    places = np.maximum(steps * np.float32(length / size) - np.float32(0.5), 0)
    return interpolate_at(x, places)


def interpolate_at(x: Array, places: NDArray[np.floating]) -> Array:
    """Read the last axis between its steps; what lies behind the last one equals it."""
    end = x.shape[-1] - 1
    before = np.minimum(places.astype(np.int64), end)
    after = np.minimum(before + 1, end)
    weight = (places - before).astype(np.float32)
    between: Array = x[..., before] * (1 - weight) + x[..., after] * weight
    return between
