"""The program ``bnctl`` that belongs to this package."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Iterator

from ._errors import Error

_NAME = "bnctl.exe" if os.name == "nt" else "bnctl"


def _folders() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sys.executable).parent
    here = Path(__file__).resolve().parent.parent
    yield here / ("Scripts" if os.name == "nt" else "bin")  # pip install --target
    yield here.parent.parent.parent / "bin"  # pip install --prefix
    user = "nt_user" if os.name == "nt" else "posix_user"
    if user in sysconfig.get_scheme_names():
        yield Path(sysconfig.get_path("scripts", scheme=user))


def find() -> str:
    """Return the path of the program.

    It is the value of the environment variable ``BNCTL``, else the program that the wheel
    installed, else the one on the ``PATH``.
    """
    named = os.environ.get("BNCTL")
    if named:
        if not os.access(named, os.X_OK):
            raise Error(f"BNCTL={named}: there is no program; unset the variable, or correct it")
        return named
    for folder in _folders():
        path = folder / _NAME
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("bnctl")
    if found is None:
        raise Error("the program bnctl is not here; install the wheel again, or set BNCTL to its path")
    return found
