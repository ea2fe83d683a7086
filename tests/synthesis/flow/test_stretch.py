import numpy as np

from cosykit.synthesis.flow.stretch import frames_of, interpolate, stretch


def test_frames_are_rounded_down() -> None:
    assert [frames_of(n) for n in (0, 1, 20, 31, 100)] == [0, 1, 34, 53, 172]


def test_interpolation_keeps_a_ramp_between_its_ends() -> None:
    ramp = np.arange(10, dtype=np.float32)[None, None]
    np.testing.assert_allclose(interpolate(ramp, 10), ramp)
    doubled = interpolate(ramp, 20)[0, 0]
    np.testing.assert_allclose(doubled[1:-1], np.arange(18) / 2 + 0.25)
    assert (doubled[0], doubled[-1]) == (0, 9)


def test_ends_are_stretched_apart_from_the_middle() -> None:
    states = np.random.default_rng(0).normal(size=(1, 3, 75)).astype(np.float32)
    new = states[..., 5:]
    stretched = stretch(states, 5, 9, 121)
    assert stretched.shape == (1, 3, 9 + 121)
    np.testing.assert_array_equal(stretched[..., 9:43], interpolate(new[..., :20], 34))
    np.testing.assert_array_equal(stretched[..., -34:], interpolate(new[..., -20:], 34))
    middle = interpolate(new[..., 20:-20], 121 - 68)
    np.testing.assert_array_equal(stretched[..., 43:-34], middle)
