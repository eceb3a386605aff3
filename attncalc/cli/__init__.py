"""The command line: a module a command. The only place that prints or exits.

A call is short, and what it takes is mostly its start, so `main` begins it so that little is done:

- Python's collector of garbage looks at every object again and again while modules are imported, and once more at the
  end; a process that is over in a moment has none, and that was a fifth of its time. From GARBAGE objects on there may
  be some: many sheets.
- `--version` needs nothing, so it is answered before anything is imported; NumPy, PyYAML and the rest of attncalc are
  imported by the command that is called, which of the commands alone is told its options. A command that is given a
  file and no option is called as the function that it is, without typer.
- Python writes a dataclass's methods anew at each start, a millisecond or two a class. What only holds values is a
  NamedTuple, which takes a fifth of that; what can't be is a dataclass without those that nobody calls (eq, repr).
- NumPy's BLAS starts a thread for each core, and a page has no use for them. A user's own setting stands.
"""

from __future__ import annotations

import gc
import os
import sys

COMMANDS = ("solve", "check", "exercise", "mask", "size", "new")  # each a function in the module of its name
OF_A_FILE = ("solve", "check", "size")  # those that can be called with the name of one file and no more
GARBAGE = 200_000


def main(arguments: list[str] | None = None) -> int:
    """Runs the call and gives its exit code: 0 done, 1 something marked is not right, 2 it can't be used."""
    if arguments is None:
        _begin_in_utf8()
    gc.set_threshold(GARBAGE)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return _answered((sys.argv[1:] if arguments is None else arguments) or ["--help"])
    finally:
        gc.freeze()  # what is left is not looked at when Python ends


def _begin_in_utf8() -> None:
    """Begins again where Python takes the words of the call and the names of files for ASCII, as in the locale C where
    PYTHONUTF8=0 keeps it from its UTF-8 mode, or for Latin-1, as in en_US: what is typed there is UTF-8 all the same,
    and names of others can't be written. Words that are no UTF-8 are what the locale says."""
    encoding = sys.getfilesystemencoding()
    if os.name == "posix" and encoding != "utf-8" and sys.executable and (encoding == "ascii" or _is_typed_in_utf8()):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _is_typed_in_utf8() -> bool:
    try:
        return bool(b"".join(map(os.fsencode, sys.argv)).decode())
    except UnicodeDecodeError:
        return False


def _answered(arguments: list[str]) -> int:
    from attncalc.errors import AttncalcError

    try:
        return _run(arguments)
    except AttncalcError as error:
        return _refused(str(error), error.exit_code)
    except BrokenPipeError:
        forget_output()  # the reader has seen enough (`| head`)
        return 0
    except OSError as error:
        if error.filename is not None:
            name = os.fsdecode(error.filename)
            return _refused(f"attncalc: can't use {name}: {error.strerror}; give another path", 2)
        forget_output()
        return _refused(f"attncalc: can't write to standard output: {error.strerror}; redirect it elsewhere", 2)
    except KeyboardInterrupt:
        return 130


def _run(arguments: list[str]) -> int:
    if sys.stdout is None:
        raise OSError(9, os.strerror(9))
    if arguments == ["--version"]:
        from attncalc import __version__

        print(f"attncalc {__version__}", flush=True)
        return 0
    code = _of_a_file(*arguments) if _is_plain(arguments) else _parsed(arguments)
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _is_plain(arguments: list[str]) -> bool:
    return len(arguments) == 2 and arguments[0] in OF_A_FILE and not arguments[1].startswith("-")


def _of_a_file(command: str, file: str) -> object:
    from importlib import import_module

    return getattr(import_module(f"attncalc.cli.{command}"), command)(file)


def _parsed(arguments: list[str]) -> object:
    """What typer makes of the words of the call."""
    from typer.main import get_command

    from attncalc.cli.app import app
    from attncalc.cli.completion import prepare

    try:
        command = get_command(app(None if prepare() else arguments))
        return command.main(arguments, prog_name="attncalc", standalone_mode=False)
    except SystemExit as end:  # what typer makes of a reader of its own pages, such as --help, who has seen enough
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        raise
    except Exception as error:
        # Usage errors of typer's own click, known by what they offer, since that copy is private to typer.
        if not hasattr(error, "format_message"):
            raise
        return _refused(f"attncalc: {_usage(error)}", 2)


def _usage(error: Exception) -> str:
    what = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "attncalc")
    return f"{what[:1].lower()}{what[1:]}; see {command} --help"


def _refused(line: str, code: int) -> int:
    """Says why, on one line: what does not print as itself, and what the terminal's encoding lacks, is escaped."""
    note("".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line))
    return code


def note(text: str) -> None:
    """Says something on standard error; where that takes nothing, the exit code and the page have to do."""
    from contextlib import suppress

    if sys.stderr is None:  # for print, that is standard output
        return
    encoding = sys.stderr.encoding or "ascii"
    with suppress(OSError):
        print(text.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr, flush=True)


def forget_output() -> None:
    """Keeps Python from flushing, as it ends, into an output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
