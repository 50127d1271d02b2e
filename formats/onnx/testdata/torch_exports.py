"""Exports torchvision's networks to the folder that the first argument names:
NAME-OPSET.onnx, and NAME.npy with what PyTorch answers to one row of the ramp.
Operator set 9 keeps batch norms and dropout, 17 is folded as torch.onnx does.
"""
import os
import sys
import warnings

import numpy as np
import torch
import torchvision.models as zoo

warnings.filterwarnings("ignore")
torch.manual_seed(0)
size = 64
i = np.arange(3 * size * size, dtype=np.uint64)
x = (-1 + 2 * ((i * 2654435761) % 2**32).astype(np.float64) / 2**32).astype(np.float32).reshape(1, 3, size, size)

for name in "resnet18 mobilenet_v2 squeezenet1_1 densenet121 efficientnet_b0 mobilenet_v3_small".split():
    net = getattr(zoo, name)()
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.uniform_(-0.1, 0.1)
            m.running_var.uniform_(0.5, 1.5)
            m.weight.data.uniform_(0.5, 1.5)
            m.bias.data.uniform_(-0.1, 0.1)
    net.eval()
    with torch.no_grad():
        np.save(os.path.join(sys.argv[1], name), net(torch.from_numpy(x)).numpy())
    for opset, mode in (9, torch.onnx.TrainingMode.PRESERVE), (17, torch.onnx.TrainingMode.EVAL):
        torch.onnx.export(net, torch.from_numpy(x), os.path.join(sys.argv[1], "%s-%d.onnx" % (name, opset)), opset_version=opset,
                          training=mode, input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
