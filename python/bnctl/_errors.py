"""Exceptions. Each is one sentence, with the exit code of the command and the argument that was wrong."""

from __future__ import annotations

import keyword
import re
from typing import Optional

_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:=(?=\S))?")
_OUTPUT = re.compile(r"(?<![\w-])-o (?=\S)")


class Error(Exception):
    """A call that did not succeed.

    Attributes
    ----------
    sentence : str
        The reason and the remedy, without the position in the program.
    code : int or None
        The exit code of the command: 1 failed, 2 misused, 3 sick, 130 or 143 stopped.
        It is None if the error was found without the command.
    field : str or None
        The argument that was wrong, for example ``"lr"``.
    """

    def __init__(self, sentence: str, code: Optional[int] = None, field: Optional[str] = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code
        self.field = field


class MisuseError(Error, ValueError):
    """An argument has a value that means nothing (exit code 2)."""


class InputError(Error, ValueError):
    """An input is not what the model accepts."""


class SickError(Error):
    """The statistics of a model's batch norms cannot be right (exit code 3)."""


class StoppedError(Error):
    """A command was stopped before its end (exit code 130 or 143)."""


class ClosedError(Error, ValueError):
    """The model is closed, or belongs to another process."""


class ServerError(Error, ConnectionError):
    """The process that computes for a model has ended or does not answer."""


class AnswerError(Error, AttributeError):
    """The model does not give this kind of answer."""


def arguments(sentence: str) -> str:
    """Return a sentence with the arguments of Python in the place of flags: ``lr_of`` for ``--lr-of``."""
    return _FLAG.sub(lambda m: argument(m.group(1)), _OUTPUT.sub("output ", sentence))


def argument(flag: str) -> str:
    """Return the argument of a flag: ``lr_of`` for ``lr-of``, ``from_`` for ``from``."""
    name = flag.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def from_command(text: str, advice: str, code: int) -> Error:
    """Return the exception of a command that printed an error."""
    found = _FLAG.match(text)
    field = argument(found.group(1)) if found else None
    sentence = arguments(text + ("; " + advice if advice else ""))
    kind = {2: MisuseError, 3: SickError, 130: StoppedError, 143: StoppedError}.get(code, Error)
    return kind(sentence, code, field)
