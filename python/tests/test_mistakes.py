"""Mistakes of users: each is one sentence with the remedy, without a hang or a process that is left."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Tuple

import numpy as np
import pytest

import bnctl

RANDOM = np.random.default_rng(1)
FLOATS = RANDOM.normal(size=(2, 3, 8, 8)).astype(np.float32)
PIXELS = RANDOM.integers(0, 256, (2, 28, 28, 1)).astype(np.uint8)

# A mistake with the model of numbers or of pictures, its exception, and the words of the sentence.
OF_NUMBERS: Dict[str, Tuple[Any, str]] = {
    "NHWC": (FLOATS.transpose(0, 2, 3, 1), r"shape \[2, 8, 8, 3\]; the model accepts float32 \[N, 3, 8, 8\]; pass x.transpose"),
    "one sample as HWC": (FLOATS[0].transpose(1, 2, 0), r"pass x.transpose\(2, 0, 1\)"),
    "another size": (np.zeros((2, 3, 9, 9), np.float32), r"shape \[2, 3, 9, 9\]; the model accepts"),
    "an axis too many": (FLOATS[:, None], r"pass x\[:, 0\]: there is an axis too many"),
    "pixels": (np.zeros((2, 3, 8, 8), np.uint8), "how pixels become numbers is not known; open it with preprocess="),
    "a picture": ("cat.jpg", "accepts no pictures, but float32 .* open it with preprocess="),
    "complex numbers": (FLOATS.astype(complex), "a ndarray of complex128, not numbers"),
    "integers that are too large": (np.full((1, 3, 8, 8), 2**24 + 1), "192 of its numbers would change"),
    "ragged lists": ([[1.0], [1.0, 2.0]], "is no array: .* same length|not numbers"),
    "None": (None, "a NoneType of object, not numbers"),
    "a wrong name": ({"image": FLOATS}, "the inputs are image; the model has x"),
    "no such array": ("none.npy", "none.npy: no such file"),
}
OF_PICTURES: Dict[str, Tuple[Any, str]] = {
    "floats": (PIXELS / 255, r"float64; the model accepts uint8 \[N, 28, 28, 1\] and normalises pixels itself; pass pixels"),
    "numbers above 255": (PIXELS.astype(int) * 3, "pixels from 0 to 255"),
    "NCHW": (np.zeros((2, 3, 28, 28), np.uint8), r"channels in front; .* pass x.transpose\(0, 2, 3, 1\)"),
    "a missing file": ("none.jpg", "none.jpg: no such file or directory"),
    "a null character": ("a\0b.jpg", r"'a\\x00b.jpg': .* null"),
    "a folder": (".", "is a folder; pass its files: sorted"),
    "no picture": (b"not a picture", "picture 0: "),
    "a list with a number": ([b"x", 3], "element 1 is an int; the others are pictures"),
    "five axes": (np.zeros((1, 1, 28, 28, 1), np.uint8), r"uint8 \[1, 1, 28, 28, 1\]; the model accepts"),
}


@pytest.fixture(scope="module")
def of_numbers(numbers: str) -> Any:
    with bnctl.Model(numbers, threads=1) as model:
        yield model


@pytest.mark.parametrize("mistake", OF_NUMBERS)
def test_numbers(of_numbers: bnctl.Model, mistake: str) -> None:
    x, sentence = OF_NUMBERS[mistake]
    with pytest.raises(bnctl.InputError, match=sentence):
        of_numbers.predict(x)
    assert len(of_numbers.predict(FLOATS)) == 2  # it still answers


@pytest.mark.parametrize("mistake", OF_PICTURES)
def test_pictures(model: bnctl.Model, mistake: str) -> None:
    x, sentence = OF_PICTURES[mistake]
    with pytest.raises(bnctl.InputError, match=sentence) as raised:
        model.predict(x)
    assert "\n" not in raised.value.sentence
    assert len(model.predict(PIXELS)) == 2


# Mistakes with files and options: the call, the exit code, the field, and the words.
OF_CALLS: Dict[str, Tuple[Callable[[str], Any], Any, Any, str]] = {
    "a missing model": (lambda m: bnctl.Model("none.bnm"), 1, None, "none.bnm: no such file"),
    "a file that is no model": (lambda m: bnctl.Model(__file__), 1, None, "test_mistakes.py"),
    "an unknown device": (lambda m: bnctl.Model(m, devices="gpu"), 2, None, "unknown device \"gpu\" .*did you mean"),
    "an option with a typing error": (lambda m: bnctl.Model(m, thread=2), 2, "thread", "did you mean threads"),
    "a path that is none": (lambda m: bnctl.Model(None), None, "path", "path None: want the path of a model file"),  # type: ignore[arg-type]
    "a path with a null character": (lambda m: bnctl.Model("a\0b"), None, "path", "null character"),
    "a number of threads in words": (lambda m: bnctl.Model(m, threads="two"), 2, "threads", "threads \"two\": want a whole number"),  # type: ignore[arg-type]
    "a precision that does not exist": (lambda m: bnctl.Model(m, precision="f16"), 2, "precision", "f16"),
    "a bad learning rate": (lambda m: bnctl.train("glyphs:64", lr="fast"), 2, "lr", "lr .*not a number"),
    "a switch with a text": (lambda m: bnctl.train("glyphs:64", nesterov="yes"), 2, "nesterov", "want True or False"),
    "a number with a switch": (lambda m: bnctl.train("glyphs:64", epochs=True), 2, "epochs", "want a whole number"),
    "two lengths": (lambda m: bnctl.train("glyphs:64", epochs=1, steps=2), 2, None, "one of epochs and steps"),
    "no data": (lambda m: bnctl.train(), 2, None, "train needs data"),
    "a missing folder": (lambda m: bnctl.train("folder:none"), 1, None, "folder:none: no such file"),
    "labels with a point": (lambda m: bnctl.train((PIXELS, [0.0, 1.0])), 2, "data", "labels of float64, .* y.astype"),
    "more labels than samples": (lambda m: bnctl.train((PIXELS, [1])), 2, "data", "2 samples and 1 labels"),
    "pictures as floats": (lambda m: bnctl.train([(PIXELS[0] / 255, "a")]), None, None, "a picture is uint8"),
    "an empty iterable": (lambda m: bnctl.evaluate(m, []), 2, "data", "data has no samples"),
    "an ending that no program has": (lambda m: bnctl.export(m, "a.xyz"), 2, None, "xyz"),
    "an output that is the input": (lambda m: bnctl.strip(m, m), 2, None, "^output .* is the input"),
    "no checkpoint": (lambda m: bnctl.strip([], "a.bnm"), 2, "checkpoints", "checkpoints is empty"),
    "top of nothing": (lambda m: bnctl.Model(m).predict(PIXELS).top(0), None, "k", "want at least 1"),
    "top of a text": (lambda m: bnctl.Model(m).predict(PIXELS).top("3"), None, "k", "top\\('3'\\): want at least 1"),
}


@pytest.mark.parametrize("mistake", OF_CALLS)
def test_calls(digits: str, mistake: str) -> None:
    call, code, field, sentence = OF_CALLS[mistake]
    with pytest.raises(bnctl.Error, match=sentence) as raised:
        call(digits)
    assert (raised.value.code, raised.value.field) == (code, field), raised.value
    assert "--" not in raised.value.sentence


def test_closed_model(digits: str) -> None:
    model = bnctl.Model(digits, threads=1)
    model.close()
    model.close()
    for call in (lambda: model.predict(PIXELS), lambda: list(model.iterate(PIXELS)), model.__enter__):
        with pytest.raises(bnctl.ClosedError, match="is closed; open it again"):
            call()
    assert "closed" in repr(model)


def test_pickled_model(model: bnctl.Model) -> None:
    with pytest.raises(bnctl.ClosedError, match="send its path"):
        pickle.dumps(model)


def test_killed_server(digits: str) -> None:
    model = bnctl.Model(digits, threads=1)
    os.kill(model._child.process.pid, signal.SIGKILL)
    with pytest.raises(bnctl.ServerError, match="ended by signal 9; open the model again"):
        model.predict(PIXELS)
    before = set(Path(tempfile.gettempdir()).glob(f"bnctl-{os.getpid()}-*.sock"))
    model.close()
    assert len(before - set(Path(tempfile.gettempdir()).glob("bnctl-*.sock"))) == 1  # its socket


def test_closed_in_an_iteration(digits: str) -> None:
    model = bnctl.Model(digits, threads=1)
    answers = model.iterate(np.repeat(PIXELS, 100, 0), batch=4)
    next(answers)
    model.close()
    with pytest.raises(bnctl.ClosedError, match="is closed; open it again"):
        list(answers)


def test_closed_while_it_computes(digits: str) -> None:
    model = bnctl.Model(digits, threads=1)
    raised = []

    def ask() -> None:
        try:
            while True:
                model.predict(np.repeat(PIXELS, 200, 0))
        except bnctl.Error as problem:
            raised.append(problem)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.1)
    model.close()
    thread.join(20)
    assert not thread.is_alive() and isinstance(raised[0], bnctl.ClosedError), raised


def test_folder_of_models(folder: Path, digits: str) -> None:
    os.mkdir("models")
    for name in "ab":
        Path(f"models/{name}.bnm").write_bytes(Path(digits).read_bytes())
    with pytest.raises(bnctl.MisuseError, match="a folder with 2 models; name one"):
        bnctl.Model("models")


def test_replaced_file(digits: str, numbers: str) -> None:
    """A file that changes does not change the answers of a model that is open."""
    Path("m.bnm").write_bytes(Path(digits).read_bytes())
    with bnctl.Model("m.bnm", threads=1) as model:
        want = model.predict(PIXELS).probabilities.tobytes()
        Path("m.bnm").write_bytes(Path(numbers).read_bytes())
        time.sleep(0.3)
        assert model.predict(PIXELS).probabilities.tobytes() == want


def test_program_is_missing(digits: str) -> None:
    run = subprocess.run([sys.executable, "-c", f"import bnctl; bnctl.Model({digits!r})"], capture_output=True, text=True,
                         env={**os.environ, "BNCTL": "/none"})
    assert "BNCTL=/none: there is no program" in run.stderr
