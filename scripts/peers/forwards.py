"""forwards.py: torchvision's networks from their .pth files, beside the same networks of bnctl.

forwards.py FOLDER BNCTL [NAME...]
    Makes each of bnctl's networks for classes in torchvision, with random weights and with statistics of random
    pictures; writes its state_dict to FOLDER, as torchvision has it and with the names of DataParallel; lets bnctl
    predict two pictures from the first, and strip both. Prints a JSON line for each: the largest difference from
    PyTorch in float64, relative to the largest value, how far PyTorch in float32 is from that, the largest difference
    from ONNX Runtime, which runs what PyTorch exports (families.py says which ONNX Runtime), and whether the two
    templates are the same. Networks that give each pixel a class are computed where they are named. Ends with 1 if a
    difference is beyond 1e-5, and twice that of PyTorch itself. The lines are kept in FOLDER/forwards.lines: what has
    one of this BNCTL is not computed again.
"""
import hashlib
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import torch
import torchvision
from torch import nn

from families import Reference, export

warnings.simplefilter("ignore")

NETWORKS = """resnet18 resnet34 resnet50 resnet101 resnet152 resnext50-32x4d resnext101-32x8d wide-resnet50-2 mobilenetv2 mobilenetv3-small
    mobilenetv3-large mnasnet1-0 efficientnet-b0 efficientnet-b1 efficientnet-b2 efficientnet-b3 efficientnet-b4
    efficientnet-v2-s regnet-x-400mf regnet-y-400mf regnet-y-800mf regnet-y-1-6gf regnet-y-3-2gf regnet-y-8gf
    densenet121 googlenet inception-v3 shufflenet-v2-x1-0 squeezenet1-1 vgg11-bn vgg13-bn vgg16-bn vgg19-bn convnext-tiny
    vit-b-16 swin-t""".split()
SIDES = {"inception-v3": 299, "efficientnet-b1": 240, "efficientnet-b2": 288, "efficientnet-b3": 300,
         "efficientnet-b4": 380, "efficientnet-v2-s": 384}
PIXELS = ("fcn-resnet50", "deeplabv3-resnet50", "lraspp-mobilenetv3-large")  # only if they are named
SIDES.update({name: 256 for name in PIXELS})
HALVES = ("googlenet", "inception-v3")  # published weights take pixels from -1 to 1


def torchvision_name(name):
    return name.replace("-", "_").replace("mobilenetv", "mobilenet_v")


def build(name):
    """A new network, the same each time; heads and scales that begin with zeros are random too."""
    torch.manual_seed(1)
    more = {"init_weights": True} if name in HALVES else {}
    where = torchvision.models
    if name in PIXELS:
        where, more = where.segmentation, {"weights_backbone": None}
    net = getattr(where, torchvision_name(name))(weights=None, **more)
    for key, p in net.named_parameters():
        if key.endswith("layer_scale") or key.startswith("heads.") or key == "class_token":
            nn.init.normal_(p, 0.0, 0.1)
    return net


def output(net, x):
    y = net(x)
    return (y["out"] if isinstance(y, dict) else y).numpy()


def pixels(n, side):
    """Patterns of all sizes, as pictures have."""
    x = torch.zeros(n, 3, side, side)
    for k in (1, 4, 8, 16, 32, 64):
        x = x + nn.functional.interpolate(torch.rand(n, 3, k, k), size=(side, side), mode="bilinear", align_corners=False)
    return (x * 255 / 6).round().clamp(0, 255).to(torch.uint8)


def statistics(name):
    return ([0.5] * 3, [0.5] * 3) if name in HALVES else ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


def normalised(name, x):
    mean, std = statistics(name)
    return (x.double() / 255 - torch.tensor(mean).view(3, 1, 1)) / torch.tensor(std).view(3, 1, 1)


def settle(name, net, side):
    """Gives batch norms the statistics of random pictures, and factors as after training."""
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    for m in norms:
        nn.init.uniform_(m.weight, 0.7, 1.3)
        nn.init.uniform_(m.bias, -0.2, 0.2)
        m.momentum = None
        if name.startswith("efficientnet-b"):  # some channels of random weights hardly vary: they enlarge rounding
            m.running_mean.uniform_(-0.3, 0.3)
            m.running_var.uniform_(0.7, 1.8)
    if norms and not name.startswith("efficientnet-b"):
        with torch.no_grad():
            net.train()(normalised(name, pixels(4, side)).float())
    return net.eval()


def difference(got, want):
    return float(np.abs(got - want).max() / np.abs(want).max())


def bnctl(*arguments):
    p = subprocess.run(arguments, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr.strip())


def stripped(program, folder, name, net):
    """The templates of the plain state_dict and of that of DataParallel."""
    files = []
    for kind, state in (("plain", net.state_dict()), ("parallel", nn.DataParallel(net).state_dict())):
        path = os.path.join(folder, f"{name}-{kind}.pth")
        torch.save(state, path)
        bnctl(program, "strip", path, "-o", path + ".bnm")
        files += [path, path + ".bnm"]
    with open(files[1], "rb") as a, open(files[3], "rb") as b:
        return files, a.read() == b.read()


def by_onnxruntime(reference, folder, name, net, x):
    """The outputs of ONNX Runtime for what PyTorch exports."""
    path = os.path.join(folder, name + ".onnx")
    export(net, x, path, 17)
    outputs = reference.outputs(path, x.numpy())
    for f in os.listdir(folder):
        if f.startswith(name + ".onnx"):
            os.remove(os.path.join(folder, f))
    return outputs[0]


def compare(reference, folder, program, name):
    net = settle(name, build(name), SIDES.get(name, 224))
    x = pixels(2, SIDES.get(name, 224))
    with torch.no_grad():
        single = output(net, normalised(name, x).float())
        exact = output(net.double(), normalised(name, x))
    peer = by_onnxruntime(reference, folder, name, net.float(), normalised(name, x).float())
    files, same = stripped(program, folder, name, net.float())
    samples, out = os.path.join(folder, name + ".npy"), os.path.join(folder, name + ".y.npy")
    np.save(samples, x.permute(0, 2, 3, 1).contiguous().numpy())
    mean, std = (",".join(map(str, v)) for v in statistics(name))
    bnctl(program, "predict", files[0], samples, "--logits", "--mean", mean, "--std", std, "-o", out)
    got = np.load(out)
    row = {"network": name, "torch": torch.__version__.split("+")[0], "onnxruntime": reference.version, "side": x.shape[-1],
           "difference": difference(got, exact), "torch_f32": difference(single, exact),
           "from_onnxruntime": difference(got, peer), "onnxruntime_from_float64": difference(peer, exact), "strip_same": same}
    for f in files + [samples, out]:
        os.remove(f)
    return row


def rows(path, program, names, compare):
    """A row for each of names: that which path has of this program, or else that of compare, which is added."""
    with open(program, "rb") as f:
        build = hashlib.sha256(f.read()).hexdigest()[:16]
    kept = {}
    if os.path.exists(path):
        with open(path) as f:
            kept = {r["network"]: r for r in map(json.loads, f) if r["build"] == build}
    for name in names:
        if name not in kept:
            kept[name] = {**compare(name), "build": build}
            with open(path, "a") as f:
                f.write(json.dumps(kept[name]) + "\n")
        print(json.dumps(kept[name]), flush=True)
        yield kept[name]


def good(row):
    return row["difference"] <= max(1e-5, 2 * row["torch_f32"]) and row["strip_same"]


def main(folder, program, *names):
    path, reference = os.path.join(folder, "forwards.lines"), Reference()
    sys.exit(not all([good(row) for row in rows(path, program, names or NETWORKS,
                                                lambda name: compare(reference, folder, program, name))]))


if __name__ == "__main__":
    main(*sys.argv[1:])
