"""Imports run one way (design.md, section 1), read from the source of every module."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "attncalc"
ANYTHING = None

# Which parts of attncalc a part may import, besides itself. A module that may import more than its part has a line of
# its own. A part that isn't here fails: decide first what it may know.
ALLOWED: dict[str, set[str] | None] = {
    "intervals": set(),
    "operations": {"intervals"},
    "expr": {"operations", "intervals", "rounding"},
    "rounding": set(),
    "digits": {"rounding"},
    "errors": set(),
    "draws": set(),
    "show": {"rounding"},
    "steps": {"expr", "intervals", "rounding", "digits"},
    "solution": {"steps", "expr", "rounding"},
    "sheet": {"solution", "steps", "expr", "rounding", "errors"},
    "shipped": set(),
    "problem": {"errors", "rounding", "show", "steps", "draws"},
    "mechanisms": {"sheet", "solution", "steps", "expr", "rounding", "digits", "show", "errors", "problem"},
    "marking": {"problem", "mechanisms", "sheet", "solution", "steps", "expr", "rounding", "digits", "show", "wording",
                "errors"},
    "exercises": {"marking", "mechanisms", "problem", "solution", "steps", "expr", "rounding", "show", "draws",
                  "errors"},
    "blocks": {"expr"},
    "wording": {"errors", "blocks"},
    "layout": {"solution", "steps", "expr", "blocks", "wording", "rounding", "digits", "show", "marking", "exercises",
               "errors"},
    "formats": {"blocks", "expr", "errors"},
    "formats.json": {"blocks", "expr", "errors", "solution", "steps", "rounding", "digits"},
    "formats.report": {"blocks", "marking"},
    "cli": ANYTHING,
    # The public names, imported when used.
    "__init__": {"problem", "mechanisms", "marking", "solution", "steps", "errors"},
    "__main__": {"cli"},
}


def imported(source: str, module: str) -> Iterator[str]:
    """The parts of attncalc that a module's source imports, wherever in it: at the top, in functions, for types only.

    `module` is its dotted name in the package, `problem.nodes` or `problem.__init__`; relative imports start there.
    """
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ["attncalc", *module.split(".")][: -node.level] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{start}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__"):
                names = [str(node.args[0].value)]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "attncalc":
                yield rest.partition(".")[0] or "__init__"


def modules() -> dict[str, Path]:
    paths = PACKAGE.rglob("*.py")
    return {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in paths}


def part_of(module: str) -> str:
    return module.partition(".")[0]


def parts_there_are() -> set[str]:
    return {part_of(module) for module in modules()}


def unwanted(module: str, source: str) -> set[str]:
    """What a module imports and may not. A name that is no part (`from attncalc import solve`) is of `__init__`."""
    allowed = ALLOWED.get(module, ALLOWED.get(part_of(module), set()))
    if allowed is ANYTHING:
        return set()
    targets = {target if target in ALLOWED or target in parts_there_are() else "__init__"
               for target in imported(source, module)}  # fmt: skip
    return targets - allowed - {part_of(module)}


@pytest.mark.parametrize("module", sorted(modules()))
def test_a_module_imports_only_what_its_part_may(module: str) -> None:
    assert unwanted(module, modules()[module].read_text(encoding="utf-8")) == set()


def test_every_part_is_in_the_table() -> None:
    assert {"expr", "rounding", "steps", "sheet"} <= parts_there_are()  # the package was found
    assert parts_there_are() - set(ALLOWED) == set()


def test_the_table_itself_runs_one_way() -> None:
    named = {part: targets for part, targets in ALLOWED.items() if targets is not ANYTHING}
    assert set().union(*named.values()) <= set(ALLOWED)
    order = list(TopologicalSorter(named).static_order())  # raises CycleError
    assert order.index("expr") < order.index("steps") < order.index("mechanisms")


@pytest.mark.parametrize(
    "line",
    [
        "from attncalc.steps import Step",
        "from attncalc import steps",
        "import attncalc.steps as s",
        "from .steps import Step",
        "from . import steps",
        "def f():\n    from attncalc.steps import Step",
        "if TYPE_CHECKING:\n    from attncalc.steps import Step",
        "s = importlib.import_module('attncalc.steps')",
        "s = __import__('attncalc.steps')",
    ],
)
def test_an_import_is_seen_wherever_it_stands(line: str) -> None:
    assert unwanted("rounding", line) == {"steps"}
    assert unwanted("sheet", line) == set()


def test_imports_inside_a_package_and_of_others_are_told_apart() -> None:
    assert unwanted("problem.nodes", "from .source import Source\nfrom . import numbers\nimport numpy, yaml") == set()
    assert unwanted("problem.nodes", "from ..mechanisms import solve") == {"mechanisms"}
    assert unwanted("problem.__init__", "from .nodes import compose") == set()
    assert unwanted("layout.grid", "from attncalc import solve") == {"__init__"}
    assert unwanted("formats.text", "from attncalc.steps import Step") == {"steps"}
    assert unwanted("formats.json", "from attncalc.steps import Step") == set()


def test_attncalc_alone_imports_nothing_heavy() -> None:
    script = "import sys; before = set(sys.modules); import attncalc; print(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert "attncalc" in loaded
    assert loaded & {"numpy", "yaml", "typer", "rich"} == set()


@pytest.mark.parametrize("module", sorted(modules()))
def test_a_module_gives_a_name_to_one_thing(module: str) -> None:
    """A constant that is set again further down stands for another thing in what reads it in between."""
    lines = ast.parse(modules()[module].read_text(encoding="utf-8")).body
    targets = [target for line in lines if isinstance(line, ast.Assign) for target in line.targets]
    targets += [line.target for line in lines if isinstance(line, ast.AnnAssign)]
    named = [target.id for target in targets if isinstance(target, ast.Name)]
    assert len(named) == len(set(named)), sorted({name for name in named if named.count(name) > 1})


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a repository")
def test_nothing_that_a_trial_left_is_at_the_top() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders, files = {".ci", "attncalc", "man", "problems", "tests"}, {".gitignore", "LICENSE", "README.md"}
    assert {path.partition("/")[0] for path in listed.splitlines()} == folders | files | {"pyproject.toml"}
