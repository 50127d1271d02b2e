#!/usr/bin/python3
"""Logits of torchvision's networks for pixels, in eval mode and float64, from
weights and an image that both sides compute: see number() of resnet20_steps.py,
whose streams these are. Needs Debian's python3-torchvision.

usage: segment_forward.py > segment_forward.txt

Lines: "NAME RMS V0 ... V31" with the root of the mean square of the logits of
one image of 64x64 and the elements i*count/32.
"""
import numpy as np
import torch
import torchvision

SEED, SIDE, CLASSES = 3, 64, 4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def words(stream, count):
    z = (np.uint64((10000 * SEED + stream) << 32) + np.arange(count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


def number(stream, shape, centre, spread):
    u = words(stream, int(np.prod(shape))).astype(np.float64) / 2**31 - 1
    return torch.tensor((centre + spread * u).astype(np.float32).reshape(shape))


def start(model):
    state = [(k, v) for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")]
    norms = {k[: -len(".running_mean")] for k, _ in state if k.endswith(".running_mean")}
    for k, (name, v) in enumerate(state):
        shape = tuple(v.shape)
        if name.endswith("running_mean"):
            centre, spread = 0.0, 0.0
        elif name.endswith("running_var"):
            centre, spread = 1.0, 0.0
        elif name[: -len(".weight")] in norms:
            centre, spread = 1.0, 0.25
        elif len(shape) == 1:
            centre, spread = 0.0, 0.25
        else:
            centre, spread = 0.0, 2.0 / np.sqrt(np.prod(shape[1:]))
        v.copy_(number(k + 1, shape, centre, spread))


x = (words(1000, SIDE * SIDE * 3) >> np.uint64(24)).astype(np.float64).reshape(1, SIDE, SIDE, 3)
x = torch.tensor(((x * (1 / 255) - np.array(MEAN)) / np.array(STD)).astype(np.float32)).permute(0, 3, 1, 2).double()
for name in ("fcn_resnet50", "deeplabv3_resnet50"):
    model = getattr(torchvision.models.segmentation, name)(
        weights=None, weights_backbone=None, num_classes=CLASSES, aux_loss=False).double()
    start(model)
    with torch.no_grad():
        y = model.eval()(x)["out"].flatten()
    rms = y.square().mean().sqrt().item()
    print(name.replace("_", "-"), f"{rms:.9g}", *(f"{y[i * y.numel() // 32].item():.9g}" for i in range(32)))
