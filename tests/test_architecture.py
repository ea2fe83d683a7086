"""Who may import whom; the layers are drawn in ARCHITECTURE.md."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "cosykit"

# From the ground up. A part imports from lower layers only, and within its own layer
# from nothing but itself, unless the layer says otherwise.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("types", "seams", "spec"),
    ("config", "plugins", "audio", "runtime", "hub", "redis_client"),
    (
        "synthesis.text",
        "synthesis.voice",
        "synthesis.lm",
        "synthesis.flow",
        "synthesis.vocoder",
    ),
    (
        "synthesis.pipeline",
        "synthesis.job",
        "synthesis.waiting",
        "synthesis.limits",
        "synthesis.schedule",
        "synthesis.turns",
        "synthesis.lasting",
        "synthesis.loop",
    ),
    ("convert",),
    ("engines",),
    ("server",),
    ("ops",),
    ("cli",),
)
# Layers whose parts may use each other (without a cycle, which is tested apart).
SOCIABLE = {1, 2, 4}
# What a part may not import although it stands above it.
FORBIDDEN = {
    "convert": ("synthesis", "engines"),
    "engines": ("convert",),
    "server": ("convert",),
    "ops": ("server",),
}
# Packages that only one part may import.
OWNERS = {
    "onnxruntime": ("runtime",),
    "onnx": ("convert",),
    "av": ("audio",),
    "httpx2": ("hub", "ops"),
    "PIL": ("ops",),
    "redis": ("redis_client", "server"),
    "grpc": ("server",),
    "wyoming": ("server",),
    "soxr": ("audio",),
    "starlette": ("server",),
    "uvicorn": ("server",),
    "typer": ("cli",),
    "rich": ("cli",),
}
NEVER = ("torch", "transformers", "whisper", "librosa")


@cache
def modules() -> Sequence[str]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found.append(".".join(part for part in parts if part != "__init__"))
    return [module for module in found if module not in ("", "__main__")]


@cache
def imports_of(module: str) -> Sequence[str]:
    return tuple(found_imports(module))


def found_imports(module: str) -> Iterator[str]:
    path = PACKAGE.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module} has a relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(module: str) -> set[str]:
    known = set(modules())
    names = {
        name.removeprefix("cosykit.")
        for name in imports_of(module)
        if name.startswith("cosykit.")
    }
    return names & known


def part_of(module: str) -> str:
    for layer in LAYERS:
        for part in layer:
            if module == part or module.startswith(part + "."):
                return part
    return ""


def level_of(part: str) -> int:
    return next(level for level, layer in enumerate(LAYERS) if part in layer)


@pytest.mark.parametrize("module", modules())
def test_module_imports_only_what_stands_above_it(module: str) -> None:
    part = part_of(module)
    if not part:
        assert module == "synthesis", f"{module} belongs to no layer"
        return
    for other in own_imports(module):
        target = part_of(other)
        if not target or target == part:
            continue
        if level_of(target) == level_of(part):
            assert level_of(part) in SOCIABLE, f"{module} imports its neighbour {other}"
        assert level_of(target) <= level_of(part), f"{module} imports {other} below it"
        banned = FORBIDDEN.get(part, ())
        assert not target.startswith(banned or ("\0",)), f"{module} imports {other}"


@pytest.mark.parametrize("module", modules())
def test_foreign_package_is_imported_by_its_owner_only(module: str) -> None:
    for name in imports_of(module):
        package = name.partition(".")[0]
        assert package not in NEVER, f"{module} imports {package}"
        owners = OWNERS.get(package)
        assert owners is None or part_of(module) in owners, f"{module} imports {name}"


def test_parts_do_not_import_each_other_in_a_circle() -> None:
    arrows: dict[str, set[str]] = {}
    for module in modules():
        targets = {part_of(other) for other in own_imports(module)}
        arrows.setdefault(part_of(module), set()).update(targets - {part_of(module)})

    # Names the circle where there is one.
    TopologicalSorter(arrows).prepare()


def test_file_map_names_every_module() -> None:
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    sections = dict(
        section.split("/**", 1) for section in text.split("\n**cosykit")[1:]
    )
    for path in PACKAGE.rglob("*.py"):
        if path.name == "__init__.py":
            continue
        folder = path.parent.relative_to(PACKAGE).as_posix()
        section = sections["" if folder == "." else f"/{folder}"]
        assert f"- `{path.name}`: " in section, f"{path} is not on the map"
