"""Add up what engines count, those that are unloaded included."""

from cosykit.seams import Counting, Engine


class Tally:
    """What the engines of a server have counted together; it never falls."""

    def __init__(self) -> None:
        self._counting: list[Counting] = []
        self._settled = 0

    @property
    def runaways(self) -> int:
        """How often speech did not end by itself."""
        return self._settled + sum(engine.runaways for engine in self._counting)

    def watch(self, engine: Engine) -> None:
        """Count with an engine that begins to speak, if it counts."""
        if isinstance(engine, Counting):
            self._counting.append(engine)

    def settle(self, engine: Engine) -> None:
        """Keep what an engine has counted, and let go of it."""
        if isinstance(engine, Counting) and engine in self._counting:
            self._settled += engine.runaways
            self._counting.remove(engine)
