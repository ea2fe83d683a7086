"""Draw latency and throughput against the number of users, as a PNG."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from cosykit.hub.atomic import replacing
from cosykit.ops.load.report import LoadResult

Point = tuple[float, float]

_SIZE = (1200, 720)
_WHITE, _INK, _GRID = "#ffffff", "#24292f", "#d8dee4"
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 40, 84, 50
_GAP = 90
_TICKS = 5


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    colour: str
    value: Callable[[LoadResult], float]


_LATENCY = (
    _Line("first byte p50", "#0969da", lambda level: level.first_byte_s.p50),
    _Line("first byte p95", "#54aeff", lambda level: level.first_byte_s.p95),
    _Line("total p50", "#bc4c00", lambda level: level.total_s.p50),
    _Line("total p95", "#fb8f44", lambda level: level.total_s.p95),
    _Line("total p99", "#ffc680", lambda level: level.total_s.p99),
)
_THROUGHPUT = (
    _Line("seconds of speech a second", "#1a7f37", lambda level: level.audio_per_s),
)


def draw(levels: Sequence[LoadResult], title: str, path: Path) -> None:
    """Draw a load test into a file.

    Raises:
        ResourceError: The file cannot be written.
    """
    image = Image.new("RGB", _SIZE, _WHITE)
    pen = ImageDraw.Draw(image)
    pen.text((_LEFT, 14), title, fill=_INK, font=ImageFont.load_default(22))
    width, height = _SIZE
    middle = height * 2 // 3 - _GAP // 2
    users = [level.users for level in levels]
    upper = _Panel(pen, (_LEFT, _TOP, width - _RIGHT, middle), users)
    upper.plot(levels, _LATENCY, "latency, s")
    lower = _Panel(pen, (_LEFT, middle + _GAP, width - _RIGHT, height - _BOTTOM), users)
    lower.plot(levels, _THROUGHPUT, "throughput")
    lower.label_users()
    with replacing(path) as temporary:
        image.save(temporary, format="PNG")


@dataclass(frozen=True, slots=True)
class _Panel:
    """A rectangle with axes; users stand at equal distances, as levels often double.

    Attributes:
        box: Left, top, right and bottom, in pixels.
    """

    pen: ImageDraw.ImageDraw
    box: tuple[int, int, int, int]
    users: Sequence[int]

    def plot(
        self, levels: Sequence[LoadResult], lines: Sequence[_Line], unit: str
    ) -> None:
        """Draw the axes, the lines and what they are."""
        most = max(line.value(level) for line in lines for level in levels)
        top = _round_up(most)
        self._grid(top, unit)
        left, _, _, _ = self.box
        for number, line in enumerate(lines):
            points = [
                (self._x(at), self._y(line.value(level) / top))
                for at, level in enumerate(levels)
            ]
            self._draw(points, line.colour)
            at = (left + 170 * number, self.box[1] - 30)
            self._text(at, line.name, line.colour)

    def label_users(self) -> None:
        """Write the numbers of users below."""
        left, _, right, bottom = self.box
        for at, users in enumerate(self.users):
            self._text((self._x(at) - 6, bottom + 8), str(users), _INK)
        self._text(((left + right) // 2 - 60, bottom + 26), "users at once", _INK)

    def _grid(self, top: float, unit: str) -> None:
        left, _, right, _ = self.box
        for tick in range(_TICKS + 1):
            y = self._y(tick / _TICKS)
            self.pen.line([(left, y), (right, y)], fill=_GRID)
            self._text((left - 62, y - 9), f"{top * tick / _TICKS:.3g}", _INK)
        self._text((10, self.box[1] - 30), unit, _INK)

    def _draw(self, points: Sequence[Point], colour: str) -> None:
        self.pen.line(list(points), fill=colour, width=3)
        for x, y in points:
            self.pen.ellipse([x - 4, y - 4, x + 4, y + 4], fill=colour)

    def _text(self, at: Point, text: str, colour: str) -> None:
        self.pen.text(at, text, fill=colour, font=ImageFont.load_default(15))

    def _x(self, at: int) -> float:
        left, _, right, _ = self.box
        return left + (right - left) * (at + 0.5) / len(self.users)

    def _y(self, share: float) -> float:
        _, top, _, bottom = self.box
        return bottom - (bottom - top) * share


def _round_up(most: float) -> float:
    """Give the next 1, 2 or 5 times a power of ten, so that ticks are round."""
    if most <= 0:
        return 1.0
    power = 10.0 ** int(f"{most:e}".partition("e")[2])
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most)
