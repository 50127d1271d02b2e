"""The functions of commands, behind their generated signatures."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Sequence, Type, Union

from . import _child
from ._data import Data, Sources
from ._errors import Error, MisuseError
from ._model import Model
from ._options import flags
from ._results import (Diagnosis, Evaluation, Exported, Inspection, Quantized, Reproduction, Result, Stripped, T,
                       Verification)
from ._run import Run

PathLike = Union[str, "os.PathLike[str]"]
ModelLike = Union[Model, PathLike]
Files = Union[PathLike, Sequence[PathLike]]


def path_of(model: ModelLike) -> str:
    """Return the file of a model."""
    return model.path if isinstance(model, Model) else os.fspath(model)


def _options_of(model: ModelLike, options: Dict[str, Any]) -> Dict[str, Any]:
    """Return options with those that an open model was opened with, unless they are given."""
    if not isinstance(model, Model):
        return options
    return {**options, **{k: v for k, v in model._file_options.items() if k in options and options[k] is None}}


def _call(kind: Type[T], command: str, files: Sequence[str], options: Dict[str, Any],
          healthy: Sequence[int] = (0,), event: Optional[str] = None) -> T:
    with flags(command, options) as arguments:
        events = _child.run([command, "--quiet", *arguments, "--", *files], healthy)
    for e in reversed(events):
        if e.get("event") == (event or command):
            return kind.of(e)
    raise Error(f"bnctl {command} printed no result")


def evaluate(model: ModelLike, data: Data, options: Dict[str, Any]) -> Evaluation:
    """Evaluate a model."""
    with Sources() as sources:
        given = dict(_options_of(model, options), data=sources.source(data, "data"))
        return _call(Evaluation, "eval", [path_of(model)], given)


def strip(checkpoints: Files, output: PathLike, options: Dict[str, Any]) -> Stripped:
    """Make a template of checkpoints."""
    files = [checkpoints] if isinstance(checkpoints, (str, os.PathLike)) else list(checkpoints)
    if not files:
        raise MisuseError("checkpoints is empty; name one file or more", 2, "checkpoints")
    return _call(Stripped, "strip", [os.fspath(f) for f in files], dict(options, output=output))


def export(model: ModelLike, output: PathLike, options: Dict[str, Any]) -> Exported:
    """Write a model for another program."""
    return _call(Exported, "export", [path_of(model)], dict(_options_of(model, options), output=output))


def quantize(model: ModelLike, output: PathLike, options: Dict[str, Any]) -> Quantized:
    """Make an int8 template."""
    with Sources() as sources:
        data = options.get("data")
        given = dict(_options_of(model, options), output=output, data=sources.source(data, "data"))
        return _call(Quantized, "quantize", [path_of(model)], given)


def doctor(file: ModelLike, options: Dict[str, Any]) -> Diagnosis:
    """Examine a file."""
    with Sources() as sources:
        given = dict(_options_of(file, options), data=sources.source(options.get("data"), "data"))
        return _call(Diagnosis, "doctor", [path_of(file)], given, (0, 3))


def inspect(file: ModelLike, options: Dict[str, Any]) -> Inspection:
    """Read a file."""
    return _call(Inspection, "inspect", [path_of(file)], _options_of(file, options))


def reproduce(model: ModelLike, options: Dict[str, Any]) -> Reproduction:
    """Train a template again."""
    with Sources() as sources:
        given = dict(_options_of(model, options), data=sources.source(options["data"], "data"),
                     val=sources.source(options["val"], "val"))
        return _call(Reproduction, "reproduce", [path_of(model)], given, (0, 3))


def verify(model: ModelLike, attest: PathLike, key: PathLike, options: Dict[str, Any]) -> Verification:
    """Check a statement."""
    return _call(Verification, "verify", [path_of(model)], dict(options, attest=attest, key=key), (0, 3))


def train(data: Data, options: Dict[str, Any], progress: Optional[bool]) -> Run:
    """Start a training."""
    sources = Sources()
    try:
        given = dict(options, data=sources.source(data, "data"), val=sources.source(options["val"], "val"))
        return Run(given, sources, progress)
    except BaseException:
        sources.close()
        raise


__all__: List[str] = ["doctor", "evaluate", "export", "inspect", "quantize", "reproduce", "strip", "train",
                      "verify", "Result"]
