"""Fixtures: small models that the program trains, once for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest

SOURCE = Path(__file__).resolve().parents[1]
if "BNCTL_INSTALLED" not in os.environ:  # the package of the source with bin/bnctl, not an installed wheel
    sys.path.insert(0, str(SOURCE))
    os.environ["PYTHONPATH"] = str(SOURCE)
    os.environ.setdefault("BNCTL", str(SOURCE.parent / "bin" / "bnctl"))

import bnctl
from bnctl import _binary

# What makes pytest load the plugin: an installed wheel has an entry point.
PLUGIN = () if "BNCTL_INSTALLED" in os.environ else ("-p", "bnctl.pytest_plugin")

# The test of the plugin runs pytest in a folder.
pytest_plugins = ["pytester"]


def command(*arguments: object) -> None:
    """Run the program, which has to end well."""
    subprocess.run([_binary.find(), *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small template, digits.bnm, and its checkpoint."""
    at = tmp_path_factory.mktemp("models")
    command("train", "--quiet", "--model", "mlp-bn", "--data", "glyphs:300", "--val", "glyphs:100@test", "--epochs", 2,
            "--batch", 32, "-o", at / "digits.bnm")
    return at


@pytest.fixture(scope="session")
def digits(folder: Path) -> str:
    """The path of a template that accepts pictures of 28x28."""
    return str(folder / "digits.bnm")


@pytest.fixture(scope="session")
def numbers(folder: Path) -> str:
    """The path of a template that accepts float32 [N, 3, 8, 8], without preprocessing."""
    graph = folder / "net.graph"
    graph.write_text(GRAPH)
    command("train", "--quiet", "--model", graph, "--data", f"npy:{_array(folder, 'x', (40, 3, 8, 8))},{_labels(folder)}",
            "--epochs", 1, "--batch", 20, "-o", folder / "numbers.bnm")
    return str(folder / "numbers.bnm")


GRAPH = """\
bnctl graph 1
graph "net"

state conv.weight f32[4,3,3,3] weight he_normal(0)
state bn.weight f32[4] gamma ones
state bn.bias f32[4] beta zeros
state bn.running_mean f32[4] mean zeros
state bn.running_var f32[4] variance ones
state fc.weight f32[3,256] weight he_normal(0)
state fc.bias f32[3] bias zeros

func main(x rows f32[3,8,8]) {
  conv = conv(x, @conv.weight, pad=[1,1,1,1])
  bn = batch_norm(conv, @bn.weight, @bn.bias, @bn.running_mean, @bn.running_var)
  relu = relu(bn)
  flat = reshape(relu, shape=[256])
  fc = dense(flat, @fc.weight, @fc.bias)
  return logits rows = fc
}
"""


def _array(folder: Path, name: str, shape: Any) -> Path:
    path = folder / f"{name}.npy"
    np.save(path, np.random.default_rng(1).normal(size=shape).astype(np.float32))
    return path


def _labels(folder: Path) -> Path:
    path = folder / "y.npy"
    np.save(path, np.arange(40) % 3)
    return path


@pytest.fixture(scope="session")
def model(digits: str) -> Iterator[bnctl.Model]:
    """The template, open."""
    with bnctl.Model(digits, threads=1) as opened:
        yield opened


@pytest.fixture()
def pictures() -> Any:
    """70 random pictures of 28x28."""
    return np.random.default_rng(5).integers(0, 256, (70, 28, 28, 1)).astype(np.uint8)


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has its own working folder."""
    monkeypatch.chdir(tmp_path)


def processes() -> "set[int]":
    """The processes of bnctl serve and train that run on this machine under this binary."""
    found = set()
    binary = os.path.realpath(_binary.find())
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.path.realpath(entry / "exe") == binary and (entry / "stat").read_text().split(") ")[1][0] != "Z":
                    found.add(int(entry.name))
            except OSError:
                pass
    return found
