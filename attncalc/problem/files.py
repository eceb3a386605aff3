"""Files that a problem names for its matrices: found within its folder, and never trusted.

Arrays of NumPy are read here from their own bytes: a header of bounded length, then as many figures as it says, which
are counted before any of them is read. So nothing is unpickled, and a small archive can't unpack into a large one.
"""

from __future__ import annotations

import ast
import io
import math
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from attncalc.errors import ProblemError
from attncalc.problem.nodes import Node
from attncalc.problem.readers import text
from attncalc.problem.room import Room
from attncalc.problem.schema import Key, Reading, Table, nearest
from attncalc.problem.source import Source, short
from attncalc.rounding import Floats

if TYPE_CHECKING:
    from zipfile import ZipFile

MOST_ENTRIES = 10_000_000
LARGEST = {".npz": 200_000_000, ".npy": 200_000_000, ".csv": 20_000_000, ".txt": 20_000_000}  # bytes
LONGEST_HEADER = 10_000
_MAGIC = b"\x93NUMPY"
_KINDS = {"O": "Python objects", "c": "complex numbers", "S": "texts", "U": "texts", "V": "records"}

KEYS = Table((
    Key("file", text, None, "a .npz, .npy, .csv or .txt file in the problem's folder"),
    Key("name", text, None, "which array of a .npz file; not needed where it has one"),
))  # fmt: skip


class NotUsable(Exception):
    """Raised for a file that can't be used: what is wrong with it, and what to do."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


@dataclass(eq=False, repr=False)
class File:
    """A file that was read: the ending of its name, and its bytes."""

    ending: str
    data: bytes

    @cached_property
    def archive(self) -> ZipFile:
        import zipfile  # only needed here

        return zipfile.ZipFile(io.BytesIO(self.data))


def contents(source: Source, node: Node, path: str) -> tuple[Reading, File]:
    """What a `{file: ..}` says, and the file; it is read once, however often and by whatever names it is asked for."""
    said = KEYS.read(source, node, path)
    name: str = said["file"]
    ending = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    try:
        if ending not in LARGEST:
            raise NotUsable("not a kind of file that is read", "give a .npz, .npy, .csv or .txt file")
        if "name" in said and ending != ".npz":
            raise NotUsable("holds one matrix without a name", "leave name out; it is for .npz files")
        return said, _file(source, name, ending)
    except NotUsable as error:
        raise unusable(source, said, path, error) from None


def array(source: Source, said: Reading, path: str, file: File) -> Floats:
    """The array of a .npy or .npz file, of one or two dimensions, with whatever figures it holds."""
    try:
        try:
            with _member(file.archive, said["name"]) if file.ending == ".npz" else io.BytesIO(file.data) as stream:
                return _array(stream, source.room.left)
        except NotUsable:
            raise
        except Exception as error:  # readers of zip files and NumPy's dtypes raise all sorts
            raise NotUsable(f"can't be read: {short(str(error)) or type(error).__name__}", "save it anew") from None
    except NotUsable as error:
        raise unusable(source, said, path, error) from None


def unusable(source: Source, said: Reading, path: str, error: NotUsable) -> ProblemError:
    """The error of a file, at the place that names it."""
    return source.error(said.at("file"), path, f"{short(said['file'])}: {error.what}", error.hint)


def _file(source: Source, name: str, ending: str) -> File:
    outside = NotUsable("outside the problem's folder", "put it beside the problem file and give its name alone")
    if source.folder is None:
        raise NotUsable("a file can't be named here", "write the figures out")
    windows = PureWindowsPath(name)
    if windows.anchor or ".." in windows.parts:
        raise outside
    try:
        folder = source.folder.resolve(strict=True)
        target = (folder / name).resolve(strict=True)  # follows symbolic links
        if not target.is_relative_to(folder):
            raise outside
        if not target.is_file():
            raise NotUsable("not a file", "give the name of a file with figures")
        file: File = source.room.once((target, ending), lambda: _read(target, ending, source.room))
        return file
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: a NUL; RuntimeError: links in a circle
        reason = getattr(error, "strerror", None) or str(error)
        raise NotUsable(f"can't be read: {reason}", "it is looked for beside the problem file") from None


def _read(target: Path, ending: str, room: Room) -> File:
    largest, size = LARGEST[ending], target.stat().st_size
    # Without waiting, for what has become a named pipe by now: it would hold the program until somebody writes.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(target, flags), "rb") as stream:
        data = stream.read(min(size, largest) + 1)
    if max(size, len(data)) > largest:
        raise NotUsable(f"larger than {largest} bytes", "give the part of it that is needed")
    room.left += len(data)
    room.bytes += len(data)
    return File(ending, data)


def _member(archive: ZipFile, name: str | None) -> IO[bytes]:
    if name is not None:
        try:
            return archive.open(f"{name}.npy")
        except KeyError:
            pass  # told below
    names = [each.removesuffix(".npy") for each in archive.namelist() if each.endswith(".npy")]
    if not names:
        raise NotUsable("holds no arrays", "save it with numpy.savez")
    if name is not None:
        raise NotUsable(f"no array {short(name)} in it", nearest(name, [short(each) for each in names]))
    if len(names) > 1:
        raise NotUsable(f"holds {len(names)} arrays", f"say which: name: {short(names[0])}")
    return archive.open(f"{names[0]}.npy")


def _array(stream: IO[bytes], room: int) -> Floats:
    """The array of a stream in NumPy's format, versions 1 to 3; of no more entries than there is room for."""
    descr, shape, by_column = _header(stream)
    if not isinstance(descr, str):
        raise NotUsable("holds records, not numbers", "save one array of numbers")
    dtype = np.dtype(descr)
    if dtype.kind not in "biuf":
        raise NotUsable(f"holds {_KINDS.get(dtype.kind, 'no numbers')}, not numbers", "save it as float64")
    count = math.prod(shape)
    if count > MOST_ENTRIES:
        raise NotUsable(f"{count} entries, but at most {MOST_ENTRIES} are read", "give the part of it that is needed")
    if count > room:
        raise NotUsable(f"{count} entries, but there is room for {room}", "save it without compressing")
    if not count or len(shape) not in (1, 2):
        size = " × ".join(str(side) for side in shape[:9]) or "a single figure"
        raise NotUsable(f"{size}, not rows and columns", "save an array of two dimensions")
    data = stream.read(count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        raise NotUsable("cut short", "save it anew")
    figures = np.frombuffer(data, np.uint8) != 0 if dtype.kind == "b" else np.frombuffer(data, dtype)
    with np.errstate(all="ignore"):  # what leaves float64's range, or is none, is not finite, and refused with its cell
        values: Floats = figures.reshape(shape, order="F" if by_column else "C").astype(np.float64)
        values += 0.0  # no -0.0
    return values


def _header(stream: IO[bytes]) -> tuple[Any, tuple[int, ...], bool]:
    """The type of the figures as the file says it, the shape, and whether they are stored column by column."""
    start = stream.read(8)
    if start[:6] != _MAGIC or start[6:7] not in (b"\1", b"\2", b"\3"):
        raise NotUsable("not an array of NumPy", "save it with numpy.save or numpy.savez")
    length = int.from_bytes(stream.read(2 if start[6] == 1 else 4), "little")
    if length > LONGEST_HEADER:
        raise NotUsable("its header is too long", "save it anew with numpy.save")
    header = ast.literal_eval(stream.read(length).decode("utf-8" if start[6] == 3 else "latin-1").strip())
    descr, shape, by_column = header["descr"], header["shape"], header["fortran_order"]
    if type(shape) is not tuple or any(type(side) is not int or side < 0 for side in shape):
        raise NotUsable("its header gives no shape", "save it anew with numpy.save")
    return descr, shape, bool(by_column)
