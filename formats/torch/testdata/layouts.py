"""Makes layouts/ and layouts.txt with PyTorch 1.13: one small network in the form in which well-known
programs store it. Run here: python3 layouts.py

layouts.txt has the state dict for load_state_dict: a line per tensor (name, type, shape, SHA-256 of its
elements), under the file's name and the key of the state dict.
"""
import argparse, collections, os, pathlib
import numpy, torch
import python2
from make import line

OUT = "layouts"


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 4, 3, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(4)
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(self.bn1(self.conv1(x)).relu().mean((2, 3)))


def trained(seed):
    torch.manual_seed(seed)
    net = Tiny()
    opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    net(torch.randn(8, 3, 6, 6)).square().sum().backward()
    opt.step()
    return net, opt


def training(net, opt):
    sched = torch.optim.lr_scheduler.StepLR(opt, 30)
    return {"epoch": 5, "arch": "tiny", "state_dict": torch.nn.DataParallel(net).state_dict(),
            "best_acc1": torch.tensor(69.75), "optimizer": opt.state_dict(), "scheduler": sched.state_dict()}


def lightning(net, opt):
    sd = collections.OrderedDict(("model." + k, v) for k, v in net.state_dict().items())
    sd["criterion.weight"] = torch.tensor([0.2, 0.3, 0.5])
    for k in ("tp", "fp", "tn", "fn"):
        sd["val_acc." + k] = torch.tensor([3, 4, 5])
    sd["val_loss.mean_value"] = torch.tensor(0.25)
    best = {"monitor": "val_loss", "best_model_score": torch.tensor(0.25), "best_model_path": "a.ckpt",
            "best_k_models": {"a.ckpt": torch.tensor(0.25)}, "kth_value": torch.tensor(0.25)}
    return {"epoch": 3, "global_step": 40, "pytorch-lightning_version": "2.1.0", "state_dict": sd,
            "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"current": {"ready": 3}}}},
            "callbacks": {"ModelCheckpoint{'monitor': 'val_loss'}": best}, "optimizer_states": [opt.state_dict()],
            "lr_schedulers": [], "hparams_name": "kwargs",
            "hyper_parameters": {"lr": 0.1, "class_weights": torch.tensor([0.2, 0.3, 0.5])}}


def beside(net):
    """Make checkpoints with many other values next to the state dict, which has an unusual name."""
    return {"my_net": net.state_dict(), "loss": torch.tensor(0.5), "val_losses": torch.rand(5),
            "torch_rng_state": torch.get_rng_state(), "cuda_rng_state": [torch.zeros(16, dtype=torch.uint8)],
            "class_weights": torch.tensor([1.0, 2.0, 3.0]), "mean": torch.tensor([0.485, 0.456, 0.406]),
            "std": torch.tensor([0.229, 0.224, 0.225]), "criterion.weight": torch.ones(3), "bank": torch.rand(20, 4)}


def cases():
    net, opt = trained(1)
    other, _ = trained(2)
    sd, ema = net.state_dict(), other.state_dict()
    loaded = training(net, opt)
    yield "imagenet.pth.tar", "state_dict", loaded
    yield "imagenet_args.pth.tar", "state_dict", {"args": argparse.Namespace(lr=0.1, arch="tiny"), **loaded}
    yield "lightning.ckpt", "state_dict", lightning(net, opt)
    yield "timm.pth.tar", "state_dict", {
        "epoch": 9, "arch": "tiny", "state_dict": sd, "optimizer": opt.state_dict(), "version": 2,
        "args": argparse.Namespace(model="tiny"), "amp_scaler": {"scale": 65536.0, "_growth_tracker": 0},
        "state_dict_ema": ema, "metric": torch.tensor(71.5)}
    yield "mmcv.pth", "state_dict", {
        "meta": {"epoch": 12, "iter": 480, "mmcv_version": "1.7.1", "CLASSES": ("a", "b", "c")},
        "state_dict": sd, "optimizer": opt.state_dict()}
    yield "detectron2.pth", "model", {"model": sd, "optimizer": opt.state_dict(), "iteration": 89999,
                                      "scheduler": {"last_epoch": 90000}, "__author__": "tiny"}
    yield "beside.pth", "my_net", beside(net)
    yield "weight_beside.pth", "model", {"model": sd, "weight": torch.ones(3), "epoch": torch.tensor(4)}
    yield "deeper.pth", "checkpoint.model", {"checkpoint": {"model": sd, "loss": torch.tensor(0.5)}, "step": 3}
    yield "loose_weights.pth", "weights", {"weights": {"w": torch.ones(2, 2), "b": torch.ones(2)},
                                           "best_acc1": torch.tensor(1.5)}
    yield "head_above.pth", "", {"encoder": {"0": {"weight": torch.ones(2, 2)}}, "fc.weight": torch.ones(3, 2)}
    yield "flat_args.pth", "", {**sd, "args": argparse.Namespace(lr=0.1), "epoch": 3}
    yield "object_beside.pth", None, {"model": {**sd, "root": pathlib.PurePosixPath("runs/1")}, "netB": ema}
    yield "object_alone.pth", None, {**sd, "root": pathlib.PurePosixPath("runs/1")}
    yield "gan.pth", None, {"netG": sd, "netD": ema, "optimizerG": opt.state_dict(), "epoch": 3}
    yield "gan_deep.pth", None, {"G": {"state_dict": sd, "optimizer": opt.state_dict()}, "D": {"state_dict": ema}}
    yield "weight_beside_mine.pth", None, {"mine": sd, "weight": torch.ones(3)}
    yield "list.pth", "0", [sd, {"lr": 0.1}]
    yield "tuple.pth", "1.model", (3, {"model": sd, "optimizer": opt.state_dict()})
    yield "lists.pth", None, [sd, ema]
    yield "one_in_list.pth", "state_dict.0", {"state_dict": [sd], "optimizers": [opt.state_dict()], "epoch": 3}
    yield "two_in_list.pth", None, {"state_dict": [sd, ema], "epoch": 3}
    head = lambda k: "head." + k if k.startswith("fc.") else "backbone." + k
    yield "mmpretrain.pth", "state_dict", {"meta": {"epoch": 100, "mmengine_version": "0.8.4"}, "message_hub": {},
                                           "state_dict": collections.OrderedDict((head(k), v) for k, v in sd.items())}
    ids = {id(p): p for p in net.parameters()}
    slots = {"state": {2**46 + i: {"momentum_buffer": p.grad} for i, p in enumerate(ids.values())},
             "param_groups": [{"lr": 0.1, "params": [2**46 + i for i in range(len(ids))]}]}
    yield "python2.pth.tar", "state_dict", {
        "epoch": 90, "arch": "tiny", "best_prec1": numpy.float64(69.75), "seen": 90 * 1281167 * 1000,
        "history": numpy.arange(3.0), "args": argparse.Namespace(lr=0.1), "optimizer": slots,
        "state_dict": torch.nn.DataParallel(net).state_dict()}


def flatten(v, prefix=""):
    for k, x in v.items():
        if isinstance(x, torch.Tensor):
            yield prefix + k, x
        elif isinstance(x, dict):
            yield from flatten(x, prefix + k + ".")


def main():
    os.makedirs(OUT, exist_ok=True)
    with open("layouts.txt", "w") as out:
        for name, key, value in cases():
            old = {"pickle_module": python2, "_use_new_zipfile_serialization": False} if "python2" in name else {}
            torch.save(value, os.path.join(OUT, name), **old)
            if key is None:
                continue  # the reader asks for a key
            for k in key.split(".") if key else []:
                value = value[int(k)] if isinstance(value, (list, tuple)) else value[k]
            out.write(f"# {name} {key or '.'}\n")
            out.writelines(line(k, t) for k, t in flatten(value))


if __name__ == "__main__":
    main()
