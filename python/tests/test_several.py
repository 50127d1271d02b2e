"""Models with several inputs: answers of ONNX Runtime, which the repository has recorded, and the mistakes with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Iterator

import numpy as np
import pytest

import bnctl
from conftest import SOURCE

CASES = sorted((SOURCE.parent / "formats" / "onnx" / "testdata" / "several").glob("*.onnx"))


def arrays(path: Path) -> Dict[str, Any]:
    """The inputs of a case by name, and its outputs as =NAME."""
    with np.load(path.with_suffix(".npz")) as file:
        return dict(file)


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_as_onnx_runtime(path: Path) -> None:
    all_of = arrays(path)
    x = {name: a for name, a in all_of.items() if name[0] != "="}
    with bnctl.Model(path, threads=1) as model:
        assert {t.name for t in model.inputs} == set(x) and len(x) > 1
        got, one = model.predict(x), model.predict({name: a[0] for name, a in x.items()})
        each = list(model.iterate(x, batch=2))
    assert len(got) == len(each) == len(next(iter(x.values())))
    for name, value in got.outputs.items():
        want = all_of["=" + name]
        assert np.abs(value.reshape(want.shape) - want).max() < 1e-5
        assert one[name].tobytes() == value[0].tobytes()
        assert b"".join(p[name].tobytes() for p in each) == value.tobytes()


IMAGE, STATE = np.zeros((2, 3, 4, 5), np.float32), np.zeros((2, 6), np.float32)
MISTAKES: Dict[str, Any] = {
    "an array": (IMAGE, r"the model has 2 inputs; pass a dict: image float32\[N, 3, 4, 5\], state float32\[N, 6\]"),
    "one is missing": ({"image": IMAGE}, "the inputs are image; the model has image, state"),
    "one too many": ({"image": IMAGE, "state": STATE, "rate": 1}, "the inputs are image, state, rate; the model has"),
    "another shape": ({"image": IMAGE, "state": STATE[:, :5]}, r"input state has the shape \[2, 5\]; .* \[N, 6\]"),
    "NHWC": ({"image": IMAGE.transpose(0, 2, 3, 1), "state": STATE}, r"input image has the shape .* pass x.transpose"),
    "other lengths": ({"image": IMAGE, "state": STATE[:1]}, "state has 1 samples, and input image has 2; give the same"),
    "a sample and samples": ({"image": IMAGE[0], "state": STATE}, "one has an axis of samples, the other has not"),
    "a picture": ({"image": "cat.jpg", "state": STATE}, "input image is a str; the model accepts float32"),
}


@pytest.fixture(scope="module")
def image_state() -> Iterator[bnctl.Model]:
    with bnctl.Model(next(p for p in CASES if p.stem == "image-state"), threads=1) as model:
        yield model


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(image_state: bnctl.Model, mistake: str) -> None:
    x, sentence = MISTAKES[mistake]
    with pytest.raises(bnctl.InputError, match=sentence):
        image_state.predict(x)
    assert len(image_state.predict({"image": IMAGE, "state": STATE})) == 2


def test_parts(image_state: bnctl.Model) -> None:
    """More rows than a batch are sent in several requests, and none is no rows."""
    rng = np.random.default_rng(1)
    x = {"image": rng.normal(size=(70, 3, 4, 5)).astype(np.float32), "state": rng.normal(size=(70, 6))}
    got = image_state.predict(x)
    assert got["y"][69].tobytes() == image_state.predict({n: a[69] for n, a in x.items()})["y"].tobytes()
    assert len(image_state.predict({n: a[:0] for n, a in x.items()})) == 0
