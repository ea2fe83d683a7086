"""The page `/docs`, run in Node on a document that only collects text."""

import re
import shutil
import subprocess

import httpx
import pytest

from cosykit.server.app import OPERATIONS

# An element is its own text and that of what was put into it.
_BROWSER = """
const said = [];
const element = () => ({
  set textContent(text) { said.push(text); },
  append(...inside) { said.push(...inside.filter(it => typeof it == "string")); },
});
globalThis.document = {getElementById: element, createElement: element};
globalThis.location = "%(url)s/docs";
const ask = fetch;
globalThis.fetch = path => ask("%(url)s/" + path);
process.on("exit", () => console.log(said.join("\\n")));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node")
def test_docs_tell_of_every_route(client: httpx.Client) -> None:
    script = re.search(r"<script>(.*)</script>", client.get("/docs").text, re.DOTALL)
    assert script
    browser = _BROWSER % {"url": str(client.base_url).rstrip("/")}
    done = subprocess.run(
        ["node", "--input-type=module", "-"],
        input=browser + script[1],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert {operation.path for operation in OPERATIONS} <= set(said)
    assert "/v1/audio/speech/ws" in said
