"""A model hub on this machine that speaks as Hugging Face and as ModelScope do.

One port is the hub, with the routes of both. Large files lie on another port under
another host name, where the hub redirects to, as the real ones do. Faults are put in
front of what a route would answer.
"""

import gzip
import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

LFS_SUFFIXES = (".pt", ".onnx")
LOGIN_PAGE = b"<!DOCTYPE html>\n<html><body>Log in to the network</body></html>\n"


@dataclass(frozen=True)
class Request:
    """What was asked for.

    Attributes:
        label: `<hub> list`, `<hub> file <path>` or `<hub> storage <path>`.
    """

    label: str
    target: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Reply:
    """What is answered.

    Attributes:
        whole: The content that `body` is a range of.
        cut_after: Close the connection after so many bytes of the body.
        stall_after: Send nothing more after so many bytes.
        drip_after: Send a byte every 20 ms after so many bytes.
        chunked: Send without telling the length before.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    whole: bytes = b""
    cut_after: int | None = None
    stall_after: int | None = None
    drip_after: int | None = None
    chunked: bool = False


Change = Callable[[Reply], Reply]


@dataclass
class Fault:
    """A change to the answers whose request has a label like the pattern."""

    pattern: str
    change: Change
    times: int


def cut(after: int) -> Change:
    """Close the connection in the middle."""
    return lambda reply: replace(reply, cut_after=after)


def stall(after: int) -> Change:
    """Fall silent in the middle."""
    return lambda reply: replace(reply, stall_after=after)


def drip(after: int) -> Change:
    """Send the rest byte by byte."""
    return lambda reply: replace(reply, drip_after=after)


def end_early(after: int) -> Change:
    """End in the middle as if that were all, without having told a length."""
    return lambda reply: replace(reply, body=reply.body[:after], chunked=True)


def lose_tail(size_bytes: int) -> Change:
    """Have only the beginning of the content, and tell no length."""

    def change(reply: Reply) -> Reply:
        if reply.status == 206:
            return Reply(416)
        return replace(reply, body=reply.whole[:size_bytes], chunked=True)

    return change


def shorten(size_bytes: int) -> Change:
    """Have only the beginning of the content, and tell its length."""
    return lambda reply: replace(reply, body=reply.body[:size_bytes])


def lengthen(reply: Reply) -> Reply:
    """Add bytes that nobody declared."""
    return replace(reply, body=reply.body + b"more", chunked=True)


def flip(at: int) -> Change:
    """Change one byte."""

    def change(reply: Reply) -> Reply:
        body = bytearray(reply.body)
        body[at] ^= 1
        return replace(reply, body=bytes(body))

    return change


def answer_status(status: int, **headers: str) -> Change:
    """Fail with a status."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda reply: Reply(status, b"no", named)


def ignore_range(reply: Reply) -> Reply:
    """Send all where a part was asked for."""
    if reply.status not in (206, 416):
        return reply
    headers = {k: v for k, v in reply.headers.items() if k != "Content-Range"}
    return replace(reply, status=200, body=reply.whole, headers=headers)


def log_in_first(reply: Reply) -> Reply:
    """Answer with the page of a captive portal."""
    return Reply(200, LOGIN_PAGE, {"Content-Type": "text/html; charset=utf-8"})


def log_in_first_disguised(reply: Reply) -> Reply:
    """Answer with that page under the type that was expected."""
    return Reply(200, LOGIN_PAGE, {"Content-Type": "application/octet-stream"})


def compress(reply: Reply) -> Reply:
    """Compress although nobody asked for it."""
    headers = {**reply.headers, "Content-Encoding": "gzip"}
    return replace(reply, body=gzip.compress(reply.body), headers=headers)


def redirect_to(address: str) -> Change:
    """Send the client elsewhere."""
    return lambda reply: Reply(302, headers={"Location": address})


class HubServer:
    """The hub: what it holds, what goes wrong, and what was asked.

    Attributes:
        repositories: Content of each file, by repository and path. It may be changed
            at any time; the next answer has the new state.
        token: What clients have to show; None lets everyone in.
        stalled: Set when an answer has fallen silent.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.token: str | None = None
        self.requests: list[Request] = []
        self.stalled = threading.Event()
        self.released = threading.Event()
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._hub = _Server(("127.0.0.1", 0), _Handler)
        self._storage = _Server(("127.0.0.1", 0), _Handler)
        self._hub.owner = self._storage.owner = self
        self.address = f"http://127.0.0.1:{self._hub.server_port}"
        self.storage_address = f"http://localhost:{self._storage.server_port}"

    def fail(self, pattern: str, change: Change, *, times: int = 10**6) -> None:
        """Change the next answers to requests with such a label.

        An answer suffers from one fault: the first that was announced and is left.
        """
        self._faults.append(Fault(pattern, change, times))

    def heal(self) -> None:
        """Forget all faults."""
        self._faults.clear()

    def asked(self, pattern: str) -> list[Request]:
        """Give the requests with such a label."""
        return [one for one in self.requests if fnmatch(one.label, pattern)]

    def commit(self, repository: str) -> str:
        """Name the present state of a repository."""
        state = hashlib.sha1(usedforsecurity=False)
        for path, content in sorted(self.repositories[repository].items()):
            state.update(path.encode() + sha256(content).encode())
        return state.hexdigest()

    def reply(self, target: str, headers: Mapping[str, str]) -> Reply:
        """Answer a request."""
        label, reply = self._route(target, headers)
        with self._lock:
            self.requests.append(Request(label, target, headers))
            for fault in self._faults:
                if fault.times and fnmatch(label, fault.pattern):
                    fault.times -= 1
                    return fault.change(reply)
        return reply

    def _route(self, target: str, headers: Mapping[str, str]) -> tuple[str, Reply]:
        parts = urlsplit(target)
        query = {key: value[0] for key, value in parse_qs(parts.query).items()}
        routes: tuple[tuple[str, str, Callable[..., Reply]], ...] = (
            (
                r"/api/models/(.+)/revision/(.+)",
                "huggingface revision",
                self._hf_commit,
            ),
            (r"/api/models/(.+)/tree/([^/]+)", "huggingface list", self._hf_tree),
            (
                r"/api/resolve-cache/(.+)/(\w+)/(.+)",
                "huggingface cache",
                self._hf_small,
            ),
            (r"/api/v1/models/(.+)/repo/files", "modelscope list", self._ms_list),
            (r"/api/v1/models/(.+)/repo", "modelscope file", self._ms_file),
            (r"/storage/(\w+)/(.+)/(\w+)/(.+)", "storage", self._stored),
            (r"/(.+/.+)/resolve/([^/]+)/(.+)", "huggingface file", self._hf_file),
        )
        for pattern, label, route in routes:
            match = re.fullmatch(pattern, parts.path)
            if match:
                words = [unquote(word) for word in match.groups()]
                if label == "storage":
                    label = f"{words.pop(0)} storage"
                path = query.get("FilePath") or (words[2] if len(words) > 2 else "")
                return f"{label} {path}".strip(), route(words, query, headers)
        return "nothing", Reply(404, b"Not Found")

    # Hugging Face

    def _hf_refusal(self, words: list[str], headers: Mapping[str, str]) -> Reply | None:
        repository = words[0]
        if self.token and headers.get("Authorization") != f"Bearer {self.token}":
            return Reply(
                401,
                b'{"error": "Invalid username or password."}',
                {"X-Error-Message": "Invalid username or password."},
            )
        if repository not in self.repositories:
            return Reply(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        if words[1] not in ("main", self.commit(repository)):
            message = f"Invalid rev id: {words[1]}"
            return Reply(404, b"{}", {"X-Error-Message": message})
        return None

    def _hf_commit(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        refusal = self._hf_refusal(words, headers)
        if refusal:
            return refusal
        return as_json({"id": words[0], "sha": self.commit(words[0])})

    def _hf_tree(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        refusal = self._hf_refusal(words, headers)
        if refusal:
            return refusal
        entries = [{"type": "directory", "oid": "0" * 40, "size": 0, "path": "asset"}]
        for path, content in sorted(self.repositories[words[0]].items()):
            entries.append(hf_entry(path, content))
        middle = len(entries) // 2
        if "cursor" in query:
            return as_json(entries[middle:])
        here = f"{self.address}/api/models/{words[0]}/tree/{words[1]}"
        following = f'<{here}?recursive=true&cursor=2>; rel="next"'
        return as_json(entries[:middle], Link=following)

    def _hf_file(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        refusal = self._hf_refusal(words, headers)
        if refusal:
            return refusal
        repository, _, path = words
        content = self.repositories[repository].get(path)
        if content is None:
            return Reply(404, b"", {"X-Error-Code": "EntryNotFound"})
        about = {"X-Repo-Commit": self.commit(repository)}
        if not path.endswith(LFS_SUFFIXES):
            way = f"/api/resolve-cache/{repository}/{self.commit(repository)}/{path}"
            return Reply(307, headers={**about, "Location": way})
        about |= {
            "X-Linked-Etag": f'"{sha256(content)}"',
            "X-Linked-Size": str(len(content)),
        }
        return self._to_storage("huggingface", repository, path, about)

    def _hf_small(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        content = self.repositories[words[0]][words[2]]
        return ranged(content, git_blob_id(content), headers)

    # ModelScope

    def _ms_refusal(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply | None:
        shown = headers.get("Cookie") == f"m_session_id={self.token}"
        if words[0] not in self.repositories or (self.token and not shown):
            return as_json(
                {"Code": 10010205001, "Message": "Record not found", "Success": False},
                status=404,
            )
        if query.get("Revision") != "master":
            return as_json(
                {"Code": 10010202006, "Message": "no such revision", "Success": False}
            )
        return None

    def _ms_list(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        refusal = self._ms_refusal(words, query, headers)
        if refusal:
            return refusal
        files: list[dict[str, object]] = [
            {"Name": "asset", "Path": "asset", "Type": "tree", "Size": 0, "Sha256": ""}
        ]
        for path, content in sorted(self.repositories[words[0]].items()):
            files.append(
                {
                    "Name": path,
                    "Path": path,
                    "Type": "blob",
                    "Size": len(content),
                    "Sha256": sha256(content),
                    "IsLFS": path.endswith(LFS_SUFFIXES),
                    "Revision": self.commit(words[0]),
                }
            )
        return as_json(
            {
                "Code": 200,
                "Data": {"Files": files},
                "Message": "success",
                "Success": True,
            }
        )

    def _ms_file(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        refusal = self._ms_refusal(words, query, headers)
        if refusal:
            return refusal
        path = query["FilePath"]
        content = self.repositories[words[0]].get(path)
        if content is None:
            return as_json({"Code": 10010206001, "Message": "not found"}, status=404)
        if path.endswith(LFS_SUFFIXES):
            return self._to_storage("modelscope", words[0], path, {})
        return ranged(content, sha256(content), headers)

    # The storage behind both

    def _to_storage(
        self, hub: str, repository: str, path: str, headers: Mapping[str, str]
    ) -> Reply:
        content = self.repositories[repository][path]
        way = f"/storage/{hub}/{quote(repository)}/{sha256(content)}/{quote(path)}"
        location = f"{self.storage_address}{way}?signature={len(self.requests)}"
        return Reply(302, headers={**headers, "Location": location})

    def _stored(
        self, words: list[str], query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Reply:
        if "Authorization" in headers or "Cookie" in headers:
            return Reply(400, b"only one way to authenticate is allowed")
        content = self.repositories[words[0]][words[2]]
        return ranged(content, hashlib.md5(content).hexdigest(), headers)

    def __enter__(self) -> "HubServer":
        for server in (self._hub, self._storage):
            threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.released.set()
        for server in (self._hub, self._storage):
            server.shutdown()
            server.server_close()


def hf_entry(path: str, content: bytes) -> dict[str, object]:
    entry: dict[str, object] = {"type": "file", "path": path, "size": len(content)}
    if not path.endswith(LFS_SUFFIXES):
        return {**entry, "oid": git_blob_id(content)}
    pointer = (
        "version https://git-lfs.github.com/spec/v1\n"
        f"oid sha256:{sha256(content)}\nsize {len(content)}\n"
    ).encode()
    lfs = {"oid": sha256(content), "size": len(content), "pointerSize": len(pointer)}
    return {**entry, "oid": git_blob_id(pointer), "lfs": lfs}


def ranged(content: bytes, tag: str, headers: Mapping[str, str]) -> Reply:
    """Answer with all of a content or with the range that is asked for."""
    etag = f'"{tag}"'
    about = {"ETag": etag, "Accept-Ranges": "bytes"}
    asked = re.fullmatch(r"bytes=(\d+)-", headers.get("Range", ""))
    if not asked or headers.get("If-Range", etag) != etag:
        return Reply(200, content, about, content)
    start = int(asked[1])
    if start >= len(content):
        about["Content-Range"] = f"bytes */{len(content)}"
        return Reply(416, b"", about, content)
    about["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
    return Reply(206, content[start:], about, content)


def as_json(value: object, status: int = 200, **headers: str) -> Reply:
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Reply(status, json.dumps(value).encode(), {**kind, **headers})


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def git_blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class _Server(ThreadingHTTPServer):
    owner: HubServer
    daemon_threads = False
    block_on_close = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when a client goes away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    timeout = 20

    def do_GET(self) -> None:
        owner = self.server.owner
        reply = owner.reply(self.path, dict(self.headers))
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunked:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        for stop in (reply.cut_after, reply.stall_after):
            if stop is not None and stop < len(reply.body):
                self.wfile.write(reply.body[:stop])
                self.wfile.flush()
                self.close_connection = True
                if stop == reply.stall_after:
                    owner.stalled.set()
                    owner.released.wait()
                return
        if reply.drip_after is None:
            self.wfile.write(reply.body)
        else:
            self._drip(reply.body, reply.drip_after)

    def _drip(self, body: bytes, after: int) -> None:
        self.close_connection = True
        with suppress(OSError):  # the client has had enough
            self.wfile.write(body[:after])
            for number in range(after, len(body)):
                self.wfile.write(body[number : number + 1])
                if self.server.owner.released.wait(0.02):
                    return

    def log_message(self, *words: object) -> None:
        """Keep quiet."""
