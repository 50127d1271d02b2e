"""Exports torchvision's networks to the folder that the first argument names:
NAME-OPSET.onnx, and NAME.npy with PyTorch's output for one row of the ramp. Exports with operator set 9
keep batch norms and dropout. In exports with set 17 torch.onnx has folded them. Networks that
give each pixel a class are exported with sets 11 and 17; files of set 11 leave height and width
open.
"""
import os
import sys
import warnings

import numpy as np
import torch
import torchvision.models as zoo
import torchvision.models.segmentation as pixels

warnings.filterwarnings("ignore")
torch.manual_seed(0)


class Logits(torch.nn.Module):
    """Returns the first output of a segmentation network, which returns a dictionary."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)["out"]


def ramp(size):
    i = np.arange(3 * size * size, dtype=np.uint64)
    ramp = -1 + 2 * ((i * 2654435761) % 2**32).astype(np.float64) / 2**32
    return torch.from_numpy(ramp.astype(np.float32).reshape(1, 3, size, size))


def export(name, net, size, versions):
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.uniform_(-0.1, 0.1)
            m.running_var.uniform_(0.5, 1.5)
            m.weight.data.uniform_(0.5, 1.5)
            m.bias.data.uniform_(-0.1, 0.1)
    net.eval()
    with torch.no_grad():
        np.save(os.path.join(sys.argv[1], name), net(ramp(size)).numpy())
    for opset, mode, open_axes in versions:
        torch.onnx.export(net, ramp(size), os.path.join(sys.argv[1], "%s-%d.onnx" % (name, opset)), opset_version=opset,
                          training=mode, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": open_axes, "y": {0: "n"}})


keep, fold = torch.onnx.TrainingMode.PRESERVE, torch.onnx.TrainingMode.EVAL
for name in "resnet18 mobilenet_v2 squeezenet1_1 densenet121 efficientnet_b0 mobilenet_v3_small".split():
    export(name, getattr(zoo, name)(), 64, ((9, keep, {0: "n"}), (17, fold, {0: "n"})))
for name, size in ("lraspp_mobilenet_v3_large", 64), ("fcn_resnet50", 32), ("deeplabv3_resnet50", 32):
    net = getattr(pixels, name)(weights=None, weights_backbone=None, num_classes=5)
    export(name, Logits(net), size, ((11, fold, {0: "n", 2: "h", 3: "w"}), (17, fold, {0: "n"})))
