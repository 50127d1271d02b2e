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
    """The findings of doctor. ``bool(diagnosis)`` is whether the file is healthy."""

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


@dataclass(frozen=True)
class Reproduction(Result):
    """A training that was repeated. ``bool(reproduction)`` is whether the bits are equal.

    Attributes
    ----------
    equal : bool, optional
        The template that was trained again is that of the file; None with `dry_run`, which compares nothing.
    sha256 : str
        Of the template that was trained again; empty with `dry_run`.
    epochs : int
        How many epochs were compared with the chain of the training.
    first_difference : int
        The first epoch that differs, or 0.
    chain : bool
        The chain of the training was there.
    dry_run : bool
        The inputs were checked, and nothing was trained.
    seconds : float
        The time of the training; with `dry_run`, its estimate.
    """

    model: str = ""
    equal: Optional[bool] = None
    sha256: str = ""
    epochs: int = 0
    first_difference: int = 0
    chain: bool = False
    dry_run: bool = False
    seconds: float = 0.0
    steps: int = 0

    def __bool__(self) -> bool:
        return bool(self.equal)


@dataclass(frozen=True)
class Verification(Result):
    """The result of verifying a signed statement. ``bool(verification)`` is whether it is valid.

    Attributes
    ----------
    valid : bool
        The key signed the statement, and it is about this template.
    reason : str
        Why it is not valid; otherwise empty.
    sha256 : str
        Of the template.
    key : str
        The fingerprint of the public key.
    action : str
        ``"trained"`` or ``"reproduced"``: what the signer did.
    resumed : bool
        The signer did not make the epochs before a checkpoint.
    """

    model: str = ""
    statement: str = ""
    valid: bool = False
    reason: str = ""
    sha256: str = ""
    key: str = ""
    action: str = ""
    resumed: bool = False
    builder: str = ""
    version: Dict[str, str] = field(default_factory=dict)
    program_sha256: str = ""

    def __bool__(self) -> bool:
        return self.valid
