"""The symbols that the embedded model knows."""

import json
from importlib.resources import files

_FILE = files("cosykit.engines.lite") / "data" / "symbols.json"

TABLE = frozenset(json.loads(_FILE.read_text(encoding="utf-8")))
