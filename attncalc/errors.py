"""Everything that attncalc refuses, and how it says so: one line, with what, where and what to do."""

from __future__ import annotations


class AttncalcError(Exception):
    """Base of all errors a user can cause. Its text is the one line that is printed."""

    exit_code = 2


class UsageError(AttncalcError):
    """Raised when the call itself can't be carried out (an option, a file that can't be read or written)."""

    def __init__(self, what: str, hint: str = "") -> None:
        self.what, self.hint = what, hint
        super().__init__(f"attncalc: {_with_hint(what, hint)}")


class ProblemError(AttncalcError):
    """Raised when a file can't be used. `line` and `column` count from 1; 0 where the place is not known."""

    def __init__(self, file: str, line: int, column: int, path: str, what: str, hint: str = "") -> None:
        self.file, self.line, self.column = file, line, column
        self.path, self.what, self.hint = path, what, hint
        place = [file, *(str(number) for number in (line, column) if number)]
        where = f"{path}: " if path else ""
        super().__init__(f"{':'.join(place)}: {where}{_with_hint(what, hint)}")

    @classmethod
    def of_file(cls, file: str, what: str, hint: str) -> ProblemError:
        """What is wrong with a file as a whole."""
        return cls(file, 0, 0, "", what, hint)


class StepError(AttncalcError):
    """Raised while a problem is worked, when a step's figures can't be used: they leave the range of float64, or a row
    is refused. `index` is that of the row or the cell, from 0; `solve` adds the file and counts as the page does."""

    def __init__(self, step: str, index: tuple[int, ...], what: str, hint: str) -> None:
        self.step, self.index, self.what, self.hint = step, index, what, hint
        super().__init__(f"attncalc: {step}: {_with_hint(what, hint)}")


def _with_hint(what: str, hint: str) -> str:
    return f"{what}; {hint}" if hint else what
