"""Keras in. Debian has no Keras, and the first test runs where one is installed. The others give from_keras an object that
saves a recorded file in the place of a model: what they show is the way of a file of Keras to a prediction, no more."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bnctl
from conftest import SOURCE

SHARED = Path(os.environ.get("BNCTL_DATA", SOURCE.parent.parent / "shared" / "data"))


class Recorded:
    """An object with what from_keras uses of a model: its layers, and save, here of a file that is there already."""

    layers = ()

    def __init__(self, file: Path) -> None:
        self.file = file

    def save(self, path: str) -> None:
        shutil.copy(self.file, path)


def test_keras() -> None:
    keras: Any = pytest.importorskip("keras", reason="Keras is not installed, and Debian has none")
    layers = keras.layers
    network = keras.Sequential([keras.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(),
                                layers.Flatten(), layers.Dense(3)])
    x = np.random.default_rng(1).normal(size=(5, 8, 8, 3)).astype(np.float32)
    with bnctl.from_keras(network, threads=1) as model:
        got = next(iter(model.predict(x.transpose(0, 3, 1, 2)).outputs.values()))
    assert np.abs(got - network.predict(x)).max() < 1e-5


def test_file_of_keras() -> None:
    """A file that Keras wrote, and the predictions of that Keras."""
    folder = SHARED / "checkpoints" / "keras" / "dl4j_cnn_batch_norm"
    if not folder.exists():
        pytest.skip(f"the files of Keras are not in {SHARED}: set BNCTL_DATA")
    x, want = np.load(folder / "input.npy"), np.load(folder / "predictions.npy")
    with bnctl.from_keras(Recorded(folder / "cnn_batch_norm.h5"), "kept.h5", threads=1) as model:
        got = next(iter(model.predict(x.transpose(0, 3, 1, 2)).outputs.values()))
    assert got.shape == want.shape and np.abs(got - want).max() < 1e-5
    assert Path("kept.h5").exists()


def test_archive() -> None:
    """An archive .keras, which is temporary, and is removed with the model."""
    folder = SOURCE.parent / "formats" / "keras" / "testdata"
    i = np.arange(2 * 12 * 5, dtype=np.uint64)
    x = (-1 + 2 * ((i * 2654435761) % 2**32) / 2**32).astype(np.float32).reshape(2, 12, 5)
    model = bnctl.from_keras(Recorded(folder / "lines.keras"), threads=1)
    file, got = model.path, next(iter(model.predict(x).outputs.values()))
    want = np.load(folder / "lines.npy")
    assert file.endswith(".keras") and np.abs(got - want).max() < 1e-5
    model.close()
    del model
    assert not os.path.exists(file)


def test_save_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of save reaches the caller, and nothing is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        bnctl.from_keras(Recorded(tmp_path / "none"))
    with pytest.raises(bnctl.Error, match="network.keras"):
        bnctl.from_keras(Recorded(Path(__file__)))
    assert list(tmp_path.iterdir()) == []
