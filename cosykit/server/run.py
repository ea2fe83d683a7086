"""Listen on the configured port until a signal comes."""

import asyncio
import logging
import math
import os
import signal
import socket
import threading
from collections.abc import Callable
from ipaddress import ip_address
from types import FrameType

import uvicorn

from cosykit.config.schema import ServerSettings, Settings
from cosykit.engines.synthesizer import Synthesizer
from cosykit.runtime.arenas import share_arenas
from cosykit.runtime.wheel import check_wheels
from cosykit.server.app import create_app
from cosykit.server.connections import Connection, allow_many_files, most_at_once
from cosykit.server.listener import listen
from cosykit.server.logs import configure_logging
from cosykit.server.ports import check_ports
from cosykit.server.service import SpeechService
from cosykit.server.websocket import SocketConnection
from cosykit.synthesis.loop import THREAD_NAME

_log = logging.getLogger(__name__)

# How long a server that has closed waits for what was begun beside its event loop. A
# recording takes the longest, and 2 s.
_LAST_WORK_S = 5.0


def serve(
    settings: Settings, open_model: Callable[[Settings], Synthesizer] | None = None
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, then finish what runs and return.

    A model that is still being loaded is not waited for, nor an engine that does not
    end what it does: the process ends.

    Args:
        open_model: Loads the model; None takes the one of the settings.

    Raises:
        RuntimeSetupError: Both wheels of ONNX Runtime are installed, or none.
        ResourceError: A port cannot be listened on.
        CosykitError: The model cannot be loaded.
    """
    check_wheels()
    configure_logging(settings.log)
    share_arenas()
    allow_many_files()
    with open_listener(settings.server) as listener:
        check_ports(settings.server)

        def stop(number: int = 0, frame: FrameType | None = None) -> None:
            server.should_exit = True

        service = SpeechService(settings, on_failure=stop, open_model=open_model)
        server = create_server(service)
        # uvicorn drains on a signal, and raises it again when it has; it is to come
        # to nothing then, but not before uvicorn listens to signals.
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                signal.signal(number, stop)
        _log.info("listening on %s (try it there, API on /docs)", _address(listener))
        if not settings.server.api_keys and not _is_private(listener):
            _log.warning("whoever reaches it may use it: server.api_keys is empty")
        server.run(sockets=[listener])
    if service.is_loading or _is_speaking():
        _leave()
    if service.failure:
        raise service.failure


def _is_speaking() -> bool:
    """Tell whether a thread of an engine did not come to its end."""
    return any(thread.name == THREAD_NAME for thread in threading.enumerate())


def _leave() -> None:
    """End the process under a thread that loads a model, or speaks, or does not end.

    Such a thread can neither be stopped nor survive the end of the interpreter: ONNX
    Runtime would abort the process.
    """
    logging.shutdown()
    os._exit(0)


class _Server(uvicorn.Server):
    """Closes all ports at once, and ends at once on a second Ctrl-C.

    Since Python 3.12 uvicorn would wait for open connections all the same.
    """

    def __init__(self, config: uvicorn.Config, service: SpeechService) -> None:
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what runs end, on every port."""
        if running := len(self.server_state.tasks):
            grace_s = self._service.settings.server.grace_s
            _log.info("finishing what runs (%d) within %g s", running, grace_s)
        self._service.closing.set()
        await super().shutdown(sockets)
        if not self.force_exit:
            await self._end_threads()

    async def _end_threads(self) -> None:
        """End the process under threads that do not end what they do beside the loop.

        asyncio would wait for them, and the interpreter too.
        """
        loop = asyncio.get_running_loop()
        ending = asyncio.create_task(loop.shutdown_default_executor())
        await asyncio.wait({ending}, timeout=_LAST_WORK_S)
        if not ending.done():
            _log.error("a thread does not end what it does, and is left behind")
            _leave()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        super().handle_exit(sig, frame)
        if self.force_exit:
            for task in self.server_state.tasks:
                task.get_loop().call_soon_threadsafe(task.cancel)


def create_server(service: SpeechService) -> uvicorn.Server:
    """Put the application behind uvicorn."""
    server = service.settings.server
    proxies = server.trusted_proxies
    return _Server(
        uvicorn.Config(
            create_app(service),
            proxy_headers=bool(proxies),
            forwarded_allow_ips="*" if "*" in proxies else list(proxies),
            http=Connection,
            backlog=most_at_once(),
            timeout_keep_alive=math.ceil(server.silence_s),
            ws=SocketConnection,
            ws_max_size=server.max_body_mb << 20,
            # Audio is compressed already.
            ws_per_message_deflate=False,
            # Keeps proxies from closing. Whoever plays what came before reads no ping,
            # so nothing is made of the answer.
            ws_ping_timeout=None,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=math.ceil(server.grace_s),
        ),
        service,
    )


def open_listener(server: ServerSettings) -> socket.socket:
    """Listen on the address.

    Raises:
        ResourceError: It is in use, not ours, or not to be had without privileges.
    """
    return listen(server.host, server.port, "with --port")


def _is_private(listener: socket.socket) -> bool:
    """Tell whether only this machine can reach it."""
    return ip_address(listener.getsockname()[0]).is_loopback


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
