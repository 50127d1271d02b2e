"""Functions of commands: typed results that agree with the command's own JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bnctl
from bnctl import _binary
from conftest import SOURCE


def printed(*arguments: object) -> Any:
    """The last JSON line of a command."""
    out = subprocess.run([_binary.find(), "--json", *map(str, arguments)], capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def test_evaluate(digits: str, model: bnctl.Model) -> None:
    want = printed("eval", digits, "--data", "glyphs:50@test")
    got = bnctl.evaluate(model, "glyphs:50@test")
    assert (got.samples, got.accuracy, got.loss, got.confusion) == (50, want["accuracy"], want["loss"], want["confusion"])
    assert got.per_class["3"]["n"] == 5 and got.raw["event"] == "eval"


def test_strip_export_quantize(folder: Path, digits: str, model: bnctl.Model) -> None:
    stripped = bnctl.strip(folder / "digits.bnc", "clean.bnm")
    assert stripped.sha256 == model.sha256 and stripped.architecture == "mlp-bn" and stripped.removed["optimizer_tensors"] > 0
    exported = bnctl.export(model, "m.onnx", fold_bn=False)
    assert exported.output == "m.onnx" and Path("m.onnx").stat().st_size > 1000 and exported.folded == []
    int8 = bnctl.quantize(digits, "q.bnm", data="glyphs:64")
    assert int8.bytes < int8.bytes_before and len(int8.layers) > 0
    with bnctl.Model("q.bnm", threads=1) as small:
        assert small.sha256 == int8.sha256


def test_doctor_and_inspect(digits: str) -> None:
    healthy = bnctl.doctor(digits)
    assert healthy and healthy.findings == []
    about = bnctl.inspect(digits)
    assert about.architecture == "mlp-bn" and about.recipe is not None and about.recipe["batch"] == 32
    assert about.parameters == printed("inspect", digits)["parameters"]


def test_sick(numbers: str) -> None:
    """A sick file is a diagnosis, not an exception."""
    np_torch = pytest.importorskip("torch")
    bnctl.export(numbers, "w.pth")
    state = np_torch.load("w.pth")
    name = next(n for n in state if n.endswith("running_var"))
    state[name] = -state[name].abs() - 1
    np_torch.save(state, "sick.pth")
    found = bnctl.doctor("sick.pth")
    assert not found and found.findings
    bnctl.inspect("sick.pth")


def test_data_as_arrays_and_iterables(digits: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, (30, 28, 28, 1)).astype(np.uint8)
    y = np.arange(30) % 10
    np.save("x.npy", x)
    np.save("y.npy", y)
    want = printed("eval", digits, "--data", "npy:x.npy,y.npy")
    assert bnctl.evaluate(digits, (x, y)).loss == want["loss"]
    samples = [(picture[:, :, 0], str(label)) for picture, label in zip(x, y)]
    assert bnctl.evaluate(digits, iter(samples)).loss == want["loss"]
    assert bnctl.evaluate(digits, (x, [str(label) for label in y])).loss == want["loss"]


def test_generated_files_are_current() -> None:
    check = subprocess.run(["python3", str(SOURCE / "generate.py"), _binary.find(), "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr
