"""timm_names.py: how timm calls the tensors of bnctl's networks, and what its networks say.

timm_names.py names TIMM
    Prints, for every network of the zoo that timm has too, "network timm's name", and then a line "name [shape]" for
    each of its tensors but the counters of batch norms: formats/testdata/timm_names.txt.gz holds it, gzipped.
timm_names.py forwards TIMM FOLDER BNCTL [NETWORK...]
    Writes each with random weights, lets bnctl predict two arrays from the file, and prints the largest difference
    from PyTorch, relative to the largest value. Ends with 1 if one is beyond 1e-5, and twice that of float32 itself.

TIMM is a folder with the package timm; it needs a PyTorch of 2 or later, none of timm's other requirements.
"""
import json
import os
import subprocess
import sys
import types

NETWORKS = {
    "resnet18": "resnet18", "resnet34": "resnet34", "resnet50": "resnet50", "resnet101": "resnet101",
    "resnet152": "resnet152", "resnext50-32x4d": "resnext50_32x4d", "resnext101-32x8d": "resnext101_32x8d",
    "wide-resnet50-2": "wide_resnet50_2", "mobilenetv2": "mobilenetv2_100",
    "mobilenetv3-small": "mobilenetv3_small_100", "mobilenetv3-large": "mobilenetv3_large_100",
    "mnasnet1-0": "mnasnet_100", "efficientnet-b0": "efficientnet_b0", "efficientnet-b1": "efficientnet_b1",
    "efficientnet-b2": "efficientnet_b2", "efficientnet-b3": "efficientnet_b3", "efficientnet-b4": "efficientnet_b4",
    "efficientnet-v2-s": "efficientnetv2_s", "regnet-x-400mf": "regnetx_004_tv", "regnet-y-400mf": "regnety_004",
    "regnet-y-800mf": "regnety_008_tv", "regnet-y-1-6gf": "regnety_016", "regnet-y-3-2gf": "regnety_032",
    "regnet-y-8gf": "regnety_080_tv", "densenet121": "densenet121", "inception-v3": "inception_v3",
    "vgg11-bn": "vgg11_bn", "vgg13-bn": "vgg13_bn", "vgg16-bn": "vgg16_bn", "vgg19-bn": "vgg19_bn",
    "convnext-tiny": "convnext_tiny", "vit-b-16": "vit_base_patch16_224", "swin-t": "swin_tiny_patch4_window7_224"}
SIDES = {"inception-v3": 299, "efficientnet-b1": 240, "efficientnet-b2": 288, "efficientnet-b3": 300,
         "efficientnet-b4": 380, "efficientnet-v2-s": 384}


def load(folder):
    """timm, whose ways to a hub of weights are left out."""
    hub = types.ModuleType("huggingface_hub")
    for name in ("HfApi", "hf_hub_download", "model_info", "EntryNotFoundError", "HfHubHTTPError"):
        setattr(hub, name, type(name, (Exception,), {}))
    sys.modules["huggingface_hub"] = sys.modules["huggingface_hub.utils"] = hub
    sys.path.insert(0, folder)
    import timm
    return timm


def build(timm, name):
    import torch
    from torch import nn
    torch.manual_seed(1)
    net = timm.create_model(NETWORKS[name], pretrained=False)
    for p in net.parameters():  # initial values near 0 would hide the layers before them
        if p.dim() == 1 or not p.any():
            nn.init.uniform_(p, 0.05, 0.4)
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.weight, 0.7, 1.3)
            nn.init.uniform_(m.bias, -0.2, 0.2)
            m.running_mean.uniform_(-0.3, 0.3)
            m.running_var.uniform_(0.001, 0.02) if name.startswith("mobilenetv3") else m.running_var.uniform_(0.7, 1.8)
    return net.eval()


def names(timm):
    for name, theirs in NETWORKS.items():
        print(name, theirs)
        for key, v in timm.create_model(theirs, pretrained=False).state_dict().items():
            if not key.endswith("num_batches_tracked"):
                print(key, str(list(v.shape)).replace(" ", ""))


def compare(timm, folder, program, name):
    import numpy as np
    import torch
    net = build(timm, name)
    side = SIDES.get(name, 224)
    x = torch.randn(2, 3, side, side)
    with torch.no_grad():
        single, exact = net(x).double(), net.double()(x.double())
    net.float()
    path = os.path.join(folder, NETWORKS[name] + ".pth")
    torch.save(net.state_dict(), path)
    np.save(path + ".npy", x.numpy())
    p = subprocess.run([program, "predict", path, path + ".npy", "--logits", "-o", path + ".y.npy"],
                       capture_output=True, text=True)
    row = {"network": name, "timm": NETWORKS[name]}
    if p.returncode:
        row["refused"] = p.stderr.strip()
    else:
        row["difference"] = float((torch.tensor(np.load(path + ".y.npy")) - exact).abs().max() / exact.abs().max())
        row["torch_f32"] = float((single - exact).abs().max() / exact.abs().max())
    for f in (path, path + ".npy", path + ".y.npy"):
        if os.path.exists(f):
            os.remove(f)
    return row


def main(what, folder, *rest):
    timm = load(folder)
    if what == "names":
        return names(timm)
    bad = False
    for name in rest[2:] or NETWORKS:
        row = compare(timm, rest[0], rest[1], name)
        bad |= "refused" in row or row["difference"] > max(1e-5, 2 * row["torch_f32"])
        print(json.dumps(row), flush=True)
    sys.exit(bad)


main(*sys.argv[1:])
