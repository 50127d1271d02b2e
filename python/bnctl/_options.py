"""Options of commands: keyword arguments become flags."""

from __future__ import annotations

import difflib
import os
import tempfile
from typing import Dict, List, Mapping, Optional, Sequence, Union

from ._errors import MisuseError, argument
from ._flags import FLAGS

#: The value of an option: a switch, a number, text, a path, or a sequence that is joined by commas.
Value = Union[None, bool, int, float, str, "os.PathLike[str]", Sequence[object]]


class flags:
    """The flags of a command for keyword arguments; files that they need exist inside the ``with`` block."""

    def __init__(self, command: str, options: Mapping[str, Value]) -> None:
        self._files: List[str] = []
        known = FLAGS[command]
        self._arguments: List[str] = []
        for name, value in options.items():
            if value is None:
                continue
            flag = name.rstrip("_").replace("_", "-")
            if flag not in known:
                raise MisuseError(_unknown(command, name, known), 2, name)
            self._arguments += self._flag(flag, known[flag], value)

    def _flag(self, flag: str, kind: str, value: Value) -> List[str]:
        field = argument(flag)
        if kind == "bool":
            if not isinstance(value, bool):
                raise MisuseError(f"{field} {value!r}: want True or False", 2, field)
            return ["--" + flag if value else f"--{flag}=false"]
        if isinstance(value, bool):
            raise MisuseError(f"{field} {value!r}: want {_WANTED.get(kind, 'text')}", 2, field)
        if kind == "strings":
            items = [value] if isinstance(value, (str, os.PathLike)) or not isinstance(value, Sequence) else value
            return [f"--{flag}={_text(item)}" for item in items]
        if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            texts = [_text(item) for item in value]
            if flag == "labels" and any("," in text for text in texts):
                return [f"--{flag}={self._lines(texts)}"]
            return [f"--{flag}={','.join(texts)}"]
        return [f"--{flag}={_text(value)}"]

    def _lines(self, texts: List[str]) -> str:
        handle, path = tempfile.mkstemp(prefix="bnctl-", suffix=".txt")
        self._files.append(path)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("".join(text + "\n" for text in texts))
        return path

    def __enter__(self) -> List[str]:
        return self._arguments

    def __exit__(self, *problem: object) -> None:
        for path in self._files:
            os.unlink(path)


_WANTED = {"int": "a whole number", "float": "a number", "duration": "a time with its unit"}


def _text(value: object) -> str:
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, float) or hasattr(value, "dtype"):
        return repr(float(value)) if not float(value).is_integer() else repr(int(value))  # type: ignore[arg-type, call-overload]
    return str(value)


def _unknown(command: str, name: str, known: Dict[str, str]) -> str:
    names = [argument(flag) for flag in known]
    near: Optional[List[str]] = difflib.get_close_matches(name, names, 1)
    hint = f"; did you mean {near[0]}?" if near else "; help() has the list"
    return f"{command} has no option {name}{hint}"
