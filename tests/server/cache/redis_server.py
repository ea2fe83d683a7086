"""A Redis of one's own, that can be stopped, killed and started again."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

REQUIRED = "TESTS_REQUIRE_REDIS"
"""Set where a missing Redis is a failure, as `.ci/run` does."""


class RedisServer:
    """Listens on a socket in a folder, and keeps nothing on the disk."""

    def __init__(self, program: str, folder: Path, *options: str) -> None:
        self._program, self._options = program, options
        # Paths of sockets may have 107 bytes, so it is not pytest's folder.
        self._socket = folder / "redis"
        self._process: subprocess.Popen[str] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"unix://{self._socket}"

    def start(self) -> None:
        command = [self._program, "--port", "0", "--unixsocket", str(self._socket)]
        self._process = subprocess.Popen(
            [*command, "--save", "", *self._options],
            cwd=self._socket.parent,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        for line in self._process.stdout:
            if "eady to accept connections" in line:
                return
        pytest.fail(f"Redis ended with {self._process.wait()}")

    def stop_answering(self) -> None:
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _signal(self, number: signal.Signals) -> None:
        assert self._process
        os.kill(self._process.pid, number)


@contextmanager
def redis_server(*options: str) -> Iterator[RedisServer]:
    """Start a Redis, or skip the test where there is none."""
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get(REQUIRED):
            pytest.fail("there is no redis-server")
        pytest.skip("there is no redis-server; Debian's package redis-server has it")
    with TemporaryDirectory() as folder:
        server = RedisServer(program, Path(folder), *options)
        try:
            yield server
        finally:
            server.kill()
