"""Assertions about models, for any test runner. The plugin of pytest adds ``--update`` and a fixture."""

from __future__ import annotations

import hashlib
import os
from typing import Any, Dict, Optional, Union

import numpy as np

from ._errors import InputError
from ._model import Model

PathLike = Union[str, "os.PathLike[str]"]

#: Whether assert_same_outputs stores what it gets. The option --update of pytest sets it.
update = False


def sha256_of(model: "Union[Model, PathLike]") -> str:
    """Return the SHA-256 of a model's file."""
    if isinstance(model, Model):
        return model.sha256
    digest = hashlib.sha256()
    with open(model, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def assert_same_bits(model: "Union[Model, PathLike]", sha256: str) -> None:
    """Assert that a file has a SHA-256, of which the first digits may be given.

    Parameters
    ----------
    model : Model or path
    sha256 : str
        At least 8 hexadecimal digits.
    """
    __tracebackhide__ = True
    wanted = sha256.lower()
    if len(wanted) < 8 or set(wanted) - set("0123456789abcdef"):
        raise InputError(f"sha256 {sha256!r}: want 8 to 64 hexadecimal digits", field="sha256")
    got = sha256_of(model)
    if not got.startswith(wanted):
        name = model.path if isinstance(model, Model) else os.fspath(model)
        raise AssertionError(f"{name} has sha256 {got}, want {wanted}")


def assert_same_outputs(model: Model, inputs: Any, golden: PathLike, update: Optional[bool] = None) -> None:
    """Assert that the outputs of a model have the bits of a stored file.

    Parameters
    ----------
    model : Model
    inputs : object
        What :meth:`Model.predict` accepts.
    golden : path
        An ``.npz`` file with an array for each output. With ``--update`` it is written.
    update : bool, optional
        Write the file; by default as pytest's ``--update`` has it.
    """
    __tracebackhide__ = True
    got = {name: np.asarray(value) for name, value in model.predict(inputs).outputs.items()}
    path = os.fspath(golden)
    if globals()["update"] if update is None else update:
        _store(path, got)
        return
    if not os.path.exists(path):
        raise AssertionError(f"{path} does not exist; run pytest with --update to store the outputs")
    with np.load(path, allow_pickle=False) as stored:
        want = {name: stored[name] for name in stored.files}
    _compare(got, want, path)


def _store(path: str, arrays: Dict[str, Any]) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:  # np.savez of a name would append .npz
        np.savez(file, **arrays)


def _compare(got: Dict[str, Any], want: Dict[str, Any], path: str) -> None:
    __tracebackhide__ = True
    if list(got) != list(want):
        raise AssertionError(f"the outputs are {', '.join(got)}; {path} has {', '.join(want)}")
    for name, a in got.items():
        b = want[name]
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            raise AssertionError(f"output {name} is {a.dtype}{list(a.shape)}; {path} has {b.dtype}{list(b.shape)}")
        raw_a, raw_b = (np.ascontiguousarray(v).reshape(-1).view(f"V{v.dtype.itemsize}") for v in (a, b))
        differ = np.flatnonzero(raw_a != raw_b)
        if differ.size:
            first = tuple(int(i) for i in np.unravel_index(differ[0], a.shape))
            raise AssertionError(f"output {name}: {differ.size} of {a.size} elements have other bits than {path}; the first "
                                 f"is {list(first)}: {a[first]!r}, want {b[first]!r}")
