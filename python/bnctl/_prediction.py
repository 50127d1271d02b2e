"""The answers of a model."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._errors import AnswerError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Class:
    """A class with its probability."""

    label: str
    index: int
    p: float


@dataclass(frozen=True)
class TensorInfo:
    """An input or an output of a model.

    Attributes
    ----------
    name : str
    dtype : numpy.dtype
    shape : tuple
        None in the first place stands for any number of rows.
    """

    name: str
    dtype: "np.dtype[Any]"
    shape: Tuple[Optional[int], ...]


@dataclass(frozen=True)
class Kind:
    """The kind of the answers of a model."""

    answers: str  # classes, labels, numbers, masks or outputs
    labels: Tuple[str, ...]
    scores: str  # the output with the scores of classes, or ""
    mask: str  # the output with scores of classes for each pixel, or ""
    thresholds: Tuple[float, ...] = ()  # the probabilities from which on labels hold; empty: above a half


class Prediction:
    """The answer of a model to one input, or to several.

    For several inputs each array has them along its first axis, and each list has an element for
    each. For a single one (a path, a picture, one sample) there is no such axis. ``len(p)``,
    ``p[i]`` and iteration are for several.

    Attributes
    ----------
    outputs : dict of str to numpy.ndarray
        All outputs of the model by name, with the bits of ``bnctl predict --logits``.
    """

    def __init__(self, kind: Kind, outputs: Mapping[str, Array], probabilities: Optional[Array],
                 single: bool = False) -> None:
        self._kind = kind
        self._single = single
        self._probabilities = probabilities
        self.outputs: Dict[str, Array] = dict(outputs)

    def __len__(self) -> int:
        if self._single:
            raise TypeError("this is the prediction of a single input; it has no length")
        return len(next(iter(self.outputs.values())))

    def __iter__(self) -> "Iterator[Prediction]":
        return (self[i] for i in range(len(self)))

    def __getitem__(self, at: "Union[int, slice, str]") -> Any:
        """Return the prediction of one input, of a range of inputs, or an output by its name."""
        if isinstance(at, str):
            if at not in self.outputs:
                raise KeyError(f"the model has no output {at!r}; it has {', '.join(self.outputs)}")
            return self.outputs[at]
        if isinstance(at, int) and not -len(self) <= at < len(self):
            raise IndexError(f"there are {len(self)} predictions, and no number {at}")
        p = None if self._probabilities is None else self._probabilities[at]
        return Prediction(self._kind, {n: v[at] for n, v in self.outputs.items()}, p, isinstance(at, int))

    @property
    def probabilities(self) -> Array:
        """The probability of each class: float32, with the bits of ``bnctl predict --format npy``.

        For labels that do not exclude each other it is that of each label.
        """
        if self._probabilities is None:
            raise AnswerError(f"the model gives {self._kind.answers}, not classes; its outputs are "
                              + ", ".join(self.outputs))
        return self._probabilities

    @property
    def labels(self) -> "Union[str, List[str], List[List[str]]]":
        """The label of the most probable class; for labels that do not exclude each other, those that hold.

        Such a label holds above a half, or from the threshold on that the model has for it.
        """
        if self._kind.answers == "labels":
            rows = [[self._kind.labels[k] for k in np.flatnonzero(self._holds(row))] for row in self._rows()]
            return rows[0] if self._single else rows
        best = [row[0].label for row in self._best(1)]
        return best[0] if self._single else best

    def _holds(self, row: Array) -> Array:
        """Return which labels hold for these probabilities."""
        return row >= np.asarray(self._kind.thresholds) if self._kind.thresholds else row > 0.5

    def top(self, k: int = 5) -> Any:
        """Return the `k` most probable classes, the best first.

        Parameters
        ----------
        k : int
            At least 1. If there are fewer classes, all are returned.

        Returns
        -------
        list of Class, or a list of these lists for several inputs
        """
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise AnswerError(f"top({k!r}): want at least 1, a whole number", field="k")
        best = self._best(k)
        return best[0] if self._single else best

    @property
    def values(self) -> Array:
        """The numbers of a model that was trained on numbers, in their units."""
        if self._kind.answers != "numbers":
            raise AnswerError(f"the model gives {self._kind.answers}, not numbers; its outputs are "
                              + ", ".join(self.outputs))
        return self.outputs[self._kind.scores]

    @property
    def mask(self) -> Array:
        """The class of each pixel: uint8, of the size of the model's output."""
        if not self._kind.mask:
            raise AnswerError(f"the model gives {self._kind.answers}, no class for each pixel")
        scores = self.outputs[self._kind.mask]
        if np.isnan(scores).any():
            raise AnswerError(f"output {self._kind.mask} has NaN: the model is sick, or the input beyond it")
        mask: Array = np.argmax(scores, axis=-3).astype(np.uint8)
        return mask

    @property
    def boxes(self) -> Array:
        """The output with the name ``boxes``. :meth:`Model.detect` gives the boxes of a detector."""
        if "boxes" not in self.outputs:
            raise AnswerError("the model has no output boxes; it has " + ", ".join(self.outputs)
                              + "; for the boxes of a detector call Model.detect(picture)")
        return self.outputs["boxes"]

    def _rows(self) -> Array:
        p = self.probabilities
        return p[None] if self._single else p

    def _best(self, k: int) -> List[List[Class]]:
        rows = []
        for row in self._rows():
            if not np.isfinite(row).all():
                raise AnswerError(f"output {self._kind.scores} is not finite: the model is sick, or the input beyond it")
            order = np.argsort(-row, kind="stable")[:k]
            rows.append([Class(self._kind.labels[i], int(i), float(row[i])) for i in order])
        return rows

    def __repr__(self) -> str:
        if self._probabilities is None:
            return f"Prediction({', '.join(f'{n} {v.dtype}{list(v.shape)}' for n, v in self.outputs.items())})"
        if not self._single:
            return f"Prediction of {len(self)} inputs, {self.probabilities.shape[-1]} classes"
        return "Prediction(" + ", ".join(f"{c.label} {100 * c.p:.1f} %" for c in self.top(3)) + ")"

    def _repr_html_(self) -> str:
        if self._probabilities is None or not self._single:
            return f"<code>{html.escape(repr(self))}</code>"
        rows = "".join(f"<tr><td>{html.escape(c.label)}</td><td style='width:12em'><div style='background:#3a78c2;"
                       f"height:0.8em;width:{100 * c.p:.1f}%'></div></td><td>{100 * c.p:.1f} %</td></tr>"
                       for c in self.top(5))
        return f"<table>{rows}</table>"
