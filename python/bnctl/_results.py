"""Results of commands, as they print them with ``--json``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar

T = TypeVar("T", bound="Result")


@dataclass(frozen=True)
class Result:
    """A result of a command. `raw` has all that the command printed."""

    raw: Dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls: Type[T], event: Mapping[str, Any]) -> T:
        """Return the result of an event."""
        known = {f.name for f in dataclasses.fields(cls)} - {"raw"}
        return cls(raw=dict(event), **{k: v for k, v in event.items() if k in known})


@dataclass(frozen=True)
class Evaluation(Result):
    """Figures of a model on labelled data. Figures that the data does not have are None.

    Attributes
    ----------
    samples : int
    accuracy, top5, loss, macro_f1, balanced_accuracy : float
        As docs/predict.md defines them.
    ece : float
        The expected calibration error.
    per_class : dict
        Figures of each class by its label.
    confusion : list of list of int
        By label and predicted class.
    """

    samples: int = 0
    correct: Optional[int] = None
    accuracy: Optional[float] = None
    top5: Optional[float] = None
    loss: Optional[float] = None
    macro_f1: Optional[float] = None
    balanced_accuracy: Optional[float] = None
    ece: Optional[float] = None
    auroc: Optional[float] = None
    miou: Optional[float] = None
    not_finite: int = 0
    per_class: Dict[str, Dict[str, Any]] = field(default_factory=dict, repr=False)
    confusion: List[List[int]] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Stripped(Result):
    """A template that was made of checkpoints."""

    output: str = ""
    sha256: str = ""
    architecture: str = ""
    parameters: int = 0
    replicas: int = 0
    removed: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Exported(Result):
    """A file in the format of another program."""

    input: str = ""
    output: str = ""
    sha256: str = ""
    parameters: int = 0
    folded: List[str] = field(default_factory=list)
    kept: List[str] = field(default_factory=list)
    max_difference: float = 0.0


@dataclass(frozen=True)
class Quantized(Result):
    """An int8 template."""

    input: str = ""
    output: str = ""
    sha256: str = ""
    bytes_before: int = 0
    bytes: int = 0
    layers: List[Dict[str, Any]] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Diagnosis(Result):
    """What doctor found. ``bool(diagnosis)`` is whether the file is healthy."""

    file: str = ""
    healthy: bool = False
    layers: int = 0
    findings: List[Dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.healthy


@dataclass(frozen=True)
class Inspection(Result):
    """The contents of a model file."""

    format: str = ""
    kind: str = ""
    architecture: str = ""
    parameters: int = 0
    flops: int = 0
    input: str = ""
    recipe: Optional[Dict[str, Any]] = field(default=None, repr=False)
    layers: List[Dict[str, Any]] = field(default_factory=list, repr=False)
