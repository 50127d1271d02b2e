"""Functions of commands: typed results that agree with the command's own JSON."""

from __future__ import annotations

import hashlib
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


def sha256(path: str) -> str:
    """The sum of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_reproduce(digits: str, folder: Path) -> None:
    again = bnctl.reproduce(digits)
    assert again and again.equal and again.sha256 == sha256(digits) and not again.dry_run
    assert bnctl.reproduce(digits, dry_run=True).dry_run
    with pytest.raises(bnctl.MisuseError, match="the inputs are not those of .* 299 samples, was .* 300") as raised:
        bnctl.reproduce(digits, data="glyphs:299")
    assert raised.value.code == 2 and "give the data of the training with data and val" in raised.value.sentence


def test_reproduce_of_arrays() -> None:
    """A training on arrays is repeated from the arrays; a template that was changed has other bits."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 256, (40, 28, 28, 1)).astype(np.uint8), np.arange(40) % 10
    for name, seed in (("a", 1), ("b", 2)):
        bnctl.train((x, y), model="mlp-bn", steps=2, batch=20, seed=seed, output=f"{name}.bnm", progress=False).wait()
    assert bnctl.reproduce("a.bnm", data=(x, y)).equal
    other = Path("b.bnm").read_bytes().replace(b'"seed":2', b'"seed":1')
    Path("forged.bnm").write_bytes(other)
    with pytest.raises(bnctl.Error, match="forged.bnm"):  # its own sum is wrong already
        bnctl.reproduce("forged.bnm", data=(x, y))
    with pytest.raises(bnctl.MisuseError, match="from_"):
        bnctl.reproduce("a.bnm", data=(x, y), from_="none.bnc")


def test_verify(digits: str) -> None:
    for name in ("team", "other"):
        subprocess.run([_binary.find(), "keygen", name], check=True, capture_output=True)
    run = bnctl.train("glyphs:64", model="mlp-bn", steps=2, batch=32, output="a.bnm", attest="a.json", attest_key="team.key",
                      progress=False).wait()
    good = bnctl.verify("a.bnm", "a.json", "team.pub")
    assert good and (good.valid, good.sha256, good.action, good.reason) == (True, run.sha256, "trained", "")
    wrong = bnctl.verify("a.bnm", "a.json", key="other.pub")
    assert not wrong and "no signature is of the key" in wrong.reason
    assert "about another template" in bnctl.verify(digits, "a.json", "team.pub").reason
    with pytest.raises(bnctl.MisuseError, match="attest: open none.json: no such file") as raised:
        bnctl.verify("a.bnm", "none.json", "team.pub")
    assert (raised.value.code, raised.value.field) == (2, "attest")


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
