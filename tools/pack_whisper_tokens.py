#!/usr/bin/env python3
"""Pack Whisper's table of tokens for the package.

    tools/pack_whisper_tokens.py multilingual.tiktoken

The table is `whisper/assets/multilingual.tiktoken` of openai/whisper: one token a line,
in base64, and its rank, in order.
"""

import base64
import lzma
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "cosykit/synthesis/text/whisper/data/multilingual.xz"


def main() -> None:
    """Write the lengths of all tokens, a byte each, and then the tokens, compressed."""
    lines = Path(sys.argv[1]).read_text(encoding="ascii").splitlines()
    tokens = []
    for number, line in enumerate(lines):
        token, rank = line.split()
        assert int(rank) == number, f"line {number + 1} is out of order"
        tokens.append(base64.b64decode(token))
    table = bytes(map(len, tokens)) + b"".join(tokens)
    # The contexts of bytes in the middle of words help, those of alignment do not.
    coder = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4}
    TARGET.write_bytes(lzma.compress(table, filters=[coder | {"pb": 0}]))


if __name__ == "__main__":
    main()
