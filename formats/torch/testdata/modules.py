"""Makes modules/ and modules.txt with PyTorch 1.13: whole modules as
torch.save(model) pickles them. Run here: python3 modules.py

modules.txt has the result of state_dict() of each module (see layouts.py), under the file's
name and the key of the module.
"""
import os, sys, types
import torch
from layouts import Tiny, trained
from make import line

OUT = "modules"


class Odd(torch.nn.Module):
    """Modules with tensors that state_dict() leaves out, repeats or reorders."""

    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.arange(6.0).view(2, 3), persistent=False)
        self.register_buffer("anchors", torch.arange(4.0))
        self.register_buffer("nothing", None)
        self.register_parameter("none", None)
        self.norm = torch.nn.BatchNorm1d(3, affine=False)
        self.untracked = torch.nn.BatchNorm1d(3, track_running_stats=False)
        self.first = torch.nn.Linear(3, 3, bias=False)
        self.tied = torch.nn.Linear(3, 3)
        self.tied.weight = self.first.weight
        self.again = self.tied
        self.gone = None
        self.act = self.act2 = torch.nn.ReLU()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))
        self.optimizer_net = torch.nn.Linear(2, 1)
        self.normed = torch.nn.utils.weight_norm(torch.nn.Linear(2, 2))
        self.names = {0: "cat"}
        self.device = torch.device("cpu")
        self.loss = torch.nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))


def cases():
    net, opt = trained(1)
    ema = trained(2)[0].half()
    yield "zip.pt", "", net, {}
    yield "legacy.pth", "", net, {"_use_new_zipfile_serialization": False}
    yield "protocol4.pt", "", net, {"pickle_protocol": 4}
    yield "parallel.pth", "", torch.nn.DataParallel(net), {}
    yield "half.pt", "", trained(3)[0].half(), {}
    yield "odd.pth", "", Odd(), {}
    yield "odd4.pth", "", Odd(), {"pickle_protocol": 4}
    yield "graph.pt", "", torch.fx.symbolic_trace(net), {}
    yield "net.t7", "net", {"net": torch.nn.DataParallel(net), "acc": 93.1, "epoch": 160}, {}
    yield "spectral.pt", "", torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2)), {}
    Tiny.__module__, Tiny.__qualname__ = "ultralytics.nn.tasks", "DetectionModel"  # as Ultralytics names them
    for name in ("ultralytics", "ultralytics.nn", "ultralytics.nn.tasks"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["ultralytics.nn.tasks"].DetectionModel = Tiny
    yield "ultralytics.pt", "model", {
        "epoch": -1, "best_fitness": 0.5, "model": trained(3)[0].half(), "ema": None, "updates": None, "optimizer": None,
        "train_args": {"lr0": 0.01}, "train_metrics": {"fitness": 0.5}, "date": "2024-01-01", "version": "8.1.0"}, {}
    yield "ultralytics_last.pt", "model", {
        "epoch": 3, "best_fitness": 0.5, "model": net.half(), "ema": ema, "updates": 40, "optimizer": opt.state_dict()}, {}


def main():
    os.makedirs(OUT, exist_ok=True)
    with open("modules.txt", "w") as out:
        for name, key, value, how in cases():
            torch.save(value, os.path.join(OUT, name), **how)
            model = value[key] if key else value
            out.write(f"# {name} {key or '.'}\n")
            out.writelines(line(k, t.detach()) for k, t in model.state_dict().items())
            if name == "ultralytics_last.pt":
                out.write(f"# {name} ema\n")
                out.writelines(line(k, t.detach()) for k, t in value["ema"].state_dict().items())


if __name__ == "__main__":
    main()
