"""families.py: torchvision's networks through PyTorch's ONNX exporter and bnctl, beside ONNX Runtime.

families.py run FOLDER BNCTL [NAME...]
    Exports the smallest member of every family, with random weights and with statistics of random pictures, at
    operator sets 11, 13 and 17 by the exporter of torch.jit, and by that of torch.export with its weights in a
    file of their own where onnxscript is installed, one network in FOLDER at a time; predicts 2 samples with both programs, and prints a JSON line for each. ONNX Runtime is
    Python's where it is installed, else Node's, which NODE_PATH finds.
families.py calm FOLDER BNCTL NAME...
    The same at the last operator set, with the last gammas of ResNets' blocks at a fifth: training begins with them
    at 0 (zero_init_residual), and rounding errors of one block grow less in those behind it.
families.py table FILE...
    Prints the table of docs/networks.md of such lines.
"""
import contextlib
import ctypes
import inspect
import json
import os
import subprocess
import sys

HERE = sys.path.pop(0)  # onnxruntime.py beside this file is no module for us

CLASSIFIERS = [
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3",
    "maxvit_t", "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "regnet_x_400mf", "regnet_y_400mf", "resnet18",
    "resnext50_32x4d", "wide_resnet50_2", "shufflenet_v2_x0_5", "squeezenet1_1", "swin_t", "swin_v2_t", "vgg11",
    "vgg11_bn", "vit_b_32"]
SEGMENTERS = ["deeplabv3_mobilenet_v3_large", "fcn_resnet50", "lraspp_mobilenet_v3_large", "deeplabv3_resnet50",
              "fcn_resnet101"]
LARGER = ["convnext_small", "densenet169", "efficientnet_b1", "efficientnet_v2_m", "mnasnet1_0", "mobilenet_v3_large",
          "regnet_x_800mf", "regnet_y_800mf", "resnet50", "resnext101_32x8d", "shufflenet_v2_x1_0", "squeezenet1_0",
          "swin_s", "swin_v2_s", "vgg13", "vgg13_bn", "vit_b_16", "wide_resnet101_2"]  # measured where they are named
OPSETS = [11, 13, 17]
DYNAMO = "dynamo"  # in the place of an operator set: PyTorch's exporter of torch.export, which takes its own
SIZES = {"inception_v3": 299, "swin_v2_t": 256}


def build(name, calm=False):
    """The network in eval mode: statistics are those of random pictures, so that values keep their size."""
    import torch
    import torchvision
    torch.manual_seed(1)
    where = torchvision.models.segmentation if name in SEGMENTERS else torchvision.models
    more = {"weights_backbone": None} if name in SEGMENTERS else {}
    if name in ("googlenet", "inception_v3"):
        more = {"init_weights": True}
    net = getattr(where, name)(weights=None, **more)
    for m in net.modules():
        if isinstance(m, torch.nn.modules.batchnorm._BatchNorm):
            m.momentum = None
    with torch.no_grad():  # initial values near 0 would hide the layers before them
        for key, p in net.named_parameters():
            if key.endswith("layer_scale"):
                p.uniform_(0.1, 1)
            elif p.dim() > 1 and not p.any():
                p.normal_(0, 0.02)
        for m in net.modules() if calm else ():
            if isinstance(m, torchvision.models.resnet.Bottleneck):
                m.bn3.weight.fill_(0.2)
    size = SIZES.get(name, 224)
    if any(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in net.modules()):
        with torch.no_grad():
            net.train()(pictures(8, size))
    return net.eval(), pictures(2, size)


def pictures(n, size):
    """Patterns of all sizes, as pictures have. Of noise deep layers see the mean, and batch norms enlarge rounding errors."""
    import torch
    x = torch.randn(n, 3, 1, 1)
    for k in (4, 8, 16, 32, 64, 128):
        x = x + torch.nn.functional.interpolate(torch.randn(n, 3, k, k), size=(size, size), mode="bilinear",
                                                align_corners=False)
    return x * (0.5 + torch.rand(n, 1, 1, 1))


class Flat:
    """Gives the values of a dict or a named tuple in order."""

    def __new__(cls, net):
        import torch

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, x):
                y = self.net(x)
                return tuple(y.values()) if isinstance(y, dict) else y

        return Module().eval()


def forms():
    """The operator sets, and the second exporter where it is there."""
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        return OPSETS
    return OPSETS + [DYNAMO]


@contextlib.contextmanager
def quiet():
    """Redirect standard output, on which exporters print their progress and refused graphs, to standard error."""
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)
        os.dup2(out, 1)
        os.close(out)


def export(net, x, path, opset):
    import torch
    more = {"opset_version": opset, "dynamic_axes": {"x": {0: "batch"}}}
    if opset == DYNAMO:
        more = {"dynamo": True, "optimize": True, "dynamic_shapes": ({0: torch.export.Dim("batch")},)}
    elif "dynamo" in inspect.signature(torch.onnx.export).parameters:
        more["dynamo"] = False
    with quiet():
        torch.onnx.export(Flat(net), (x,), path, input_names=["x"], **more)


def computed(net, x):
    """The outputs in float64, of which all programs keep a distance, and PyTorch's own in float32."""
    import torch
    answers = []
    for kind in (torch.float64, torch.float32):
        with torch.no_grad():
            y = Flat(net.to(kind))(x.to(kind))
        answers.append([v.numpy() for v in (y if isinstance(y, tuple) else (y,))])
    return answers


class Reference:
    """ONNX Runtime in this process, or in a Node beside it."""

    def __init__(self):
        try:
            import onnxruntime
            self.ort, self.node = onnxruntime, None
        except ImportError:
            self.node = subprocess.Popen(["node", os.path.join(HERE, "reference.js")], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
            self.version = json.loads(self.node.stdout.readline())["version"]
        else:
            self.version = self.ort.__version__

    def outputs(self, path, x):
        import numpy as np
        if self.node is None:
            session = self.ort.InferenceSession(path, providers=["CPUExecutionProvider"])
            return session.run(None, {"x": x})
        x.tofile(path + ".x")
        self.node.stdin.write(json.dumps({"model": path, "input": path + ".x", "shape": list(x.shape)}) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return [np.fromfile(o["file"], np.float32).reshape(o["shape"]) for o in answer["outputs"]]


def predicted(bnctl, path, x):
    """Return bnctl's outputs, or the sentence of its refusal."""
    import numpy as np
    np.save(path + ".npy", x)
    out = path + ".y.npy"
    p = subprocess.run([bnctl, "predict", path, path + ".npy", "--logits", "-o", out], capture_output=True, text=True)
    if p.returncode != 0:
        return None, p.stderr.strip().splitlines()[-1]
    written = [out] if os.path.exists(out) else sorted(
        (os.path.join(os.path.dirname(out), f) for f in os.listdir(os.path.dirname(out))
         if f.startswith(os.path.basename(path) + ".y.") and f.endswith(".npy")), key=os.path.getmtime)
    return [np.load(f) for f in written], ""


def difference(got, want):
    """The largest difference, relative to the largest value of the output; of outputs in any order."""
    import numpy as np
    if len(got) != len(want):
        return None
    left, worst = list(got), 0.0
    for w in want:
        fits = [(float(np.abs(g - w).max() / np.abs(w).max()), i) for i, g in enumerate(left) if g.shape == w.shape]
        if not fits:
            return None
        least, i = min(fits)
        worst = max(worst, least)
        left.pop(i)
    return worst


def run(folder, bnctl, names, calm=False):
    import torch
    exports = OPSETS[-1:] if calm else forms()  # onnxscript has to be there before ONNX Runtime is
    reference = Reference()
    for name in names or CLASSIFIERS + SEGMENTERS:
        net, x = build(name, calm)
        exact, own = computed(net, x)
        for opset in exports:
            path = os.path.join(folder, name + ".onnx")
            row = {"network": name, "torch": torch.__version__.split("+")[0], "reference": reference.version,
                   "opset": opset, "size": x.shape[-1]}
            try:
                export(net, x, path, opset)
                want = reference.outputs(path, x.numpy())
                got, row["refused"] = predicted(bnctl, path, x.numpy())
                if got is not None:
                    row["difference"] = difference(got, want)
                    row["from_float64"] = [difference(v, exact) for v in (got, want, own)]
            except Exception as e:  # the exporter or ONNX Runtime does not support it
                row["not_exported"] = str(e).strip().splitlines()[0][:300]
            print(json.dumps(row), flush=True)
            for f in os.listdir(folder):
                if f.startswith(name + ".onnx"):
                    os.remove(os.path.join(folder, f))


def cell(row):
    if row is None:
        return ""
    if "not_exported" in row:
        return "not exported"
    if row["refused"]:
        return "refused"
    return "wrong outputs" if row["difference"] is None else f"{row['difference']:.0e}"


def table(files):
    rows = [json.loads(line) for f in files for line in open(f)]
    columns = sorted({(r["torch"], r["opset"]) for r in rows}, key=str)
    print("| network | input | " + " | ".join(f"{t}, {o}" for t, o in columns) + " | bnctl, ONNX Runtime, PyTorch from float64 |")
    print("|" + "---|" * (len(columns) + 3))
    for name in CLASSIFIERS + SEGMENTERS + LARGER:  # later lines replace earlier ones
        own = {(r["torch"], r["opset"]): r for r in rows if r["network"] == name}
        if own:
            size = next(iter(own.values()))["size"]
            far = next((r["from_float64"] for r in own.values() if r.get("from_float64")), None)
            print(f"| {name} | 3x{size}x{size} | " + " | ".join(cell(own.get(c)) for c in columns) + " | " +
                  (", ".join(f"{v:.0e}" for v in far) if far else "") + " |")


if __name__ == "__main__":
    if sys.argv[1] in ("run", "calm"):
        run(sys.argv[2], sys.argv[3], sys.argv[4:], sys.argv[1] == "calm")
    else:
        table(sys.argv[2:])
