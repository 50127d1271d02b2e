"""PyTorch in and out: answers agree with PyTorch, weights come back with strict=True."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import bnctl

torch = pytest.importorskip("torch")


def network(classes: int = 3) -> Any:
    """A small network with batch norms that have seen data."""
    torch.manual_seed(1)
    n = torch.nn
    net = n.Sequential(n.Conv2d(3, 8, 3, padding=1, bias=False), n.BatchNorm2d(8), n.ReLU(), n.AvgPool2d(2), n.Flatten(),
                       n.Linear(8 * 16, classes))
    with torch.no_grad():
        net.train()(torch.randn(64, 3, 8, 8))
    return net


def test_from_torch() -> None:
    net, x = network(), torch.randn(10, 3, 8, 8)
    model = bnctl.from_torch(net, x[:2], threads=1)
    assert net.training and model.outputs[0].name == "logits"
    want = net.eval()(x).detach().numpy()
    assert np.abs(model.predict(x)["logits"] - want).max() < 1e-5
    file = model.path
    model.close()
    del model
    assert not os.path.exists(file)


def test_trained_and_back() -> None:
    net = network()
    x = np.random.default_rng(1).normal(size=(64, 3, 8, 8)).astype(np.float32)
    y = np.arange(64) % 3
    with bnctl.from_torch(net, x[:2], "net.onnx", threads=1) as model:
        run = bnctl.train((x, y), model=model.path, steps=3, batch=32, output="net.bnm", progress=False).wait()
    other = network()
    before = other[0].weight.clone()
    assert bnctl.to_torch(run.model, other) is other
    assert not torch.equal(before, other[0].weight)
    want = run.model.predict(x)["logits"]
    assert np.abs(other.eval()(torch.from_numpy(x)).detach().numpy() - want).max() < 1e-5
    run.model.close()
    with pytest.raises(bnctl.InputError, match=r"not of this module: 5.weight has the shape \[3, 128\], in the module \[4, 128\]"):
        bnctl.to_torch("net.bnm", network(4))


def test_mistakes() -> None:
    with pytest.raises(bnctl.InputError, match="module is str; want a torch.nn.Module"):
        bnctl.from_torch("resnet18", torch.zeros(1))
    with pytest.raises(bnctl.Error, match="PyTorch cannot export the module"):
        bnctl.from_torch(network(), torch.zeros(2, 5, 8, 8))
    with pytest.raises(bnctl.InputError, match="want a Keras model"):
        bnctl.from_keras(network())
