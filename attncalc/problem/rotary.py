"""`kind: rotary`, and `position: {kind: rotary}`: pairs of columns turned by angles that grow with the place."""

from __future__ import annotations

from typing import NamedTuple

from attncalc.problem.matrices import matrix, row_vector
from attncalc.problem.nodes import ListNode, Node
from attncalc.problem.readers import choice, positive, switch, whole
from attncalc.problem.rows import ROWS, fitted, needed, operands
from attncalc.problem.schema import Key, Kind, Reading, Table
from attncalc.problem.source import Source, counted
from attncalc.steps import Matrix

BASE = (10000.0, "10000")
LAST_START = 1_000_000_000
WIDEST = 1_000_000


class Rotary(NamedTuple):
    """How pairs of columns are turned. At most one of `angles` and (`cos`, `sin`) is given; else the base gives them.

    `width` is how many columns are turned, the first ones; None until `check` has been told how many there are.
    """

    pairs: str = "adjacent"  # or halves: column i of the first half with column i of the second
    base: tuple[float, str] = BASE  # and how it was written
    start: int = 0  # the position of the first row
    width: int | None = None
    ntk: tuple[float, str] | None = None  # the factor that the context grows by
    angles: Matrix | None = None  # a row a position, a column a pair; one row: times the position
    degrees: bool = False  # what angles are in; else in radians
    cos: Matrix | None = None  # a row a position, a column a pair
    sin: Matrix | None = None

    @property
    def columns(self) -> int:
        """How many columns are turned."""
        assert self.width is not None
        return self.width


class RotaryOfRows(NamedTuple):
    """Rows x, n × d, each turned by its position."""

    x: Matrix
    tokens: tuple[str, ...] | None
    rotary: Rotary


def table(source: Source, node: Node, path: str) -> Matrix:
    """A row a position, or one row, which may be flat; written out or from a file, as nothing else says its size."""
    is_flat = isinstance(node, ListNode) and not any(isinstance(item, ListNode) for item in node.items)
    given = row_vector(source, node, path) if is_flat else matrix(source, node, path)
    if not isinstance(given, Matrix):
        raise source.error(node, path, "its size is not determined here", "write it out")
    return given


KEYS = Table((
    Key("pairs", choice("adjacent", "halves"), "adjacent",
        "adjacent: columns 1 and 2, 3 and 4, ..; halves: a column of the first half with one of the second"),
    Key("base", positive, BASE, "the angle of pair i, from 0, is pos / base^(2i/d)"),
    Key("start", whole(0, LAST_START), 0, "the position of the first row"),
    Key("rotary_dim", whole(2, WIDEST), None, "how many columns are turned, the first ones; all, if nothing is said"),
    Key("ntk", positive, None, "a factor that the context grows by: base times factor^(d/(d-2))"),
    Key("angles", table, None, "a row a position, a column a pair; one row is multiplied by the position"),
    Key("degrees", switch, False, "yes: angles are in degrees, not in radians"),
    Key("cos", table, None, "cosines, a row a position, a column a pair; with sin, instead of angles"),
    Key("sin", table, None, "sines, likewise"),
))  # fmt: skip

# What is of no use where angles or cosines are given.
_WITHOUT_USE = {
    "angles": ("base", "ntk", "cos", "sin"),
    "cos": ("base", "ntk", "degrees", "start"),
}


def rotary(source: Source, said: Reading, path: str = "") -> Rotary:
    """The Rotary that keys say. Raises ProblemError where they don't go together."""
    before = f"{path}." if path else ""
    for name, other in (("cos", "sin"), ("sin", "cos")):
        if name in said and other not in said:
            raise source.error(said.at(name), f"{before}{other}", "missing", f"give it with {name}, or angles")
    for first, unused in _WITHOUT_USE.items():
        for name in unused:
            if first in said and name in said:
                what = f"can't be given together with {first}"
                raise source.error(said.at(name), f"{before}{name}", what, "keep one of them")
    if "degrees" in said and "angles" not in said:
        what = "not used where no angles are given"
        raise source.error(said.at("degrees"), f"{before}degrees", what, "the base gives angles in radians")
    if "start" in said and said["angles"] is not None and len(said["angles"].values) > 1:
        what = "not used where angles has a row a position"
        raise source.error(said.at("start"), f"{before}start", what, "give one row, or leave it out")
    if said["rotary_dim"] is not None and said["rotary_dim"] % 2:
        what = f"{said['rotary_dim']} is odd, but columns are turned in pairs"
        raise source.error(said.at("rotary_dim"), f"{before}rotary_dim", what, "give an even number")
    found = {name: said[name] for name in ("pairs", "base", "start", "ntk", "angles", "degrees", "cos", "sin")}
    return Rotary(width=said["rotary_dim"], **found)


def check(
    source: Source, given: Rotary, width: int, positions: int, *, shown: str, node: Node, said: Reading | None = None,
    path: str = "",
) -> Rotary:  # fmt: skip
    """The Rotary of rows of `width` columns (`shown`: what says so) at so many positions. Raises ProblemError.

    `node` and `path` are those of the mapping that says it, and `said` its values; None where it is a word.
    """
    before = f"{path}." if path else ""
    if given.width is None and width % 2:
        hint = f"say how many are: rotary_dim: {width - 1}" if width > 1 else "two columns are a pair"
        raise source.error(node, path, f"columns are turned in pairs, but {shown}", hint)
    columns = given.width or width
    if said is not None:
        if columns > width:
            raise source.error(said.at("rotary_dim"), f"{before}rotary_dim", f"{columns}, but {shown}",
                               f"at most {width - width % 2}")  # fmt: skip
        if given.ntk and columns == 2:
            what = "d is 2, and d/(d-2) has no value"
            raise source.error(said.at("ntk"), f"{before}ntk", what, "one pair has no slower one: leave it out")
        for name in ("angles", "cos", "sin"):
            _check_table(source, said, f"{before}{name}", name, columns // 2, positions)
    return given._replace(width=columns)


def _check_table(source: Source, said: Reading, path: str, name: str, pairs: int, positions: int) -> None:
    given: Matrix | None = said[name]
    if given is None:
        return
    rows, columns = given.values.shape
    if columns != pairs:
        what = f"{counted(columns, 'column')}, but there {'is' if pairs == 1 else 'are'} {counted(pairs, 'pair')}"
        raise source.error(said.at(name), path, what, "give a column a pair")
    if rows != positions and not (rows == 1 and name == "angles"):
        there_are = f"there {'is' if positions == 1 else 'are'} {counted(positions, 'position')}"
        one = ", or one row, which is multiplied by the position" if name == "angles" else ""
        what = f"{counted(rows, 'row')}, but {there_are}"
        raise source.error(said.at(name), path, what, f"give a row a position{one}")


def rotary_of_rows(source: Source, said: Reading) -> RotaryOfRows:
    """The rotation that a file's keys give. Raises ProblemError where keys or shapes don't go together."""
    needed(source, said, "x", "[[1, 0], [1, 0]]")
    given = operands(said, {"x": ("n", "d")})
    asked = rotary(source, said)
    sizes = fitted(source, said, given, labels=(("tokens", "n"),))
    shown = f"x has {given[0].shown(1)}"
    found = check(source, asked, sizes["d"], sizes["n"], shown=shown, node=said.at("x"), said=said)
    return RotaryOfRows(given[0].matrix, said["tokens"], found)


PROBLEMS = {"rotary": Kind(ROWS + KEYS, rotary_of_rows)}
