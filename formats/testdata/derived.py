"""Makes derived/ with PyTorch 2.6: state dicts of layers with reparametrised weights. NAME.want.pth has the weights
that the layers of NAME.pth use in prediction.
Run here: python3 derived.py. PyTorch 1.13 gives the same files except for parametrizations.weight_norm. python3 derived.py check
compares its results with the existing files.
"""
import pathlib, sys
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm, weight_norm

OUT = pathlib.Path("derived")


def run(net, *inputs):
    """Runs a few steps of training, which change the vectors of spectral_norm."""
    net.train()
    for _ in range(3):
        for layer, x in inputs:
            layer(x)
    return net.eval()


def effective(net, inputs):
    """Return the weights that each layer computes with, by their names in the plain layer."""
    for layer, x in inputs:
        layer(x)
    want = {}
    for prefix, m in net.named_modules():
        if type(m).__name__ in ("ParametrizationList", "ModuleDict") or "parametrizations" in prefix:
            continue
        names = {n for n, _ in list(m.named_parameters(recurse=False)) + list(m.named_buffers(recurse=False))}
        hooked = {n.rsplit("_", 1)[0] for n in names if n.rsplit("_", 1)[-1] in ("orig", "g")}
        hooked |= set(getattr(m, "parametrizations", {}))
        hooked = {n for n in hooked if not n.endswith("_v")}  # pruned itself, under weight_norm
        plain = {n for n in names if n.rsplit("_", 1)[-1] not in ("orig", "mask", "g", "v", "u")}
        for n in sorted(plain | {h for h in hooked if hasattr(m, h)}):
            want[(prefix + "." if prefix else "") + n] = getattr(m, n).detach().clone()
    return want


def make(name, net, *inputs):
    inputs = list(inputs)
    run(net, *inputs)
    with torch.no_grad():
        want = effective(net, inputs)
    got = net.state_dict()
    if sys.argv[1:] == ["check"]:
        there = torch.load(OUT / (name + ".want.pth"))
        assert set(there) == set(want), (name, sorted(there), sorted(want))
        net.load_state_dict(torch.load(OUT / (name + ".pth")))
        with torch.no_grad():
            want = effective(net, inputs)
        for k, v in want.items():
            torch.testing.assert_close(v, there[k], rtol=1e-6, atol=0)
        print("as here:", name)
        return
    torch.save(got, OUT / (name + ".pth"))
    torch.save(want, OUT / (name + ".want.pth"))


def pruned():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 2)).train()
    prune.l1_unstructured(net[0], "weight", 0.4)
    prune.random_unstructured(net[0], "bias", 0.5)
    prune.l1_unstructured(net[1], "weight", 0.5)
    prune.ln_structured(net[3], "weight", 0.5, n=2, dim=0)
    make("pruned", net, (net, torch.randn(5, 3, 4, 4)))


def halves():
    net = nn.Sequential(nn.Linear(6, 3), nn.Linear(3, 3))
    prune.l1_unstructured(net[0], "weight", 0.4)
    prune.l1_unstructured(net[1], "weight", 0.4)
    net[0].half()
    net[1].bfloat16()
    for layer in net:
        for hook in layer._forward_pre_hooks.values():
            hook(layer, None)  # a forward pass does the same
    make("halves", net)


def normed():
    net = nn.ModuleDict({
        "conv": weight_norm(nn.Conv2d(3, 4, 3)), "up": weight_norm(nn.ConvTranspose2d(4, 5, 2), dim=1),
        "line": weight_norm(nn.Conv1d(4, 6, 5, groups=2), dim=2), "all": weight_norm(nn.Linear(6, 3), dim=None),
        "one": weight_norm(nn.Linear(6, 1)), "lstm": weight_norm(nn.LSTM(3, 2), "weight_hh_l0"),
        "wide": weight_norm(nn.Linear(5, 4)).double()})
    for m in net.values():
        for n, p in m.named_parameters():
            if n.endswith("_g"):
                p.data *= 1.7  # else it is the norm, and the weight is v
    net["pruned"] = weight_norm(nn.Linear(6, 4))
    net["pruned"].weight_g.data *= 0.3
    prune.l1_unstructured(net["pruned"], "weight_v", 0.5)
    make("normed", net, (net["conv"], torch.randn(1, 3, 5, 5)), (net["up"], torch.randn(1, 4, 3, 3)),
         (net["line"], torch.randn(1, 4, 9)), (net["all"], torch.randn(1, 6)), (net["one"], torch.randn(1, 6)),
         (net["lstm"], torch.randn(2, 1, 3)), (net["wide"], torch.randn(1, 5).double()), (net["pruned"], torch.randn(1, 6)))


def normed_again():
    of = parametrizations.weight_norm
    net = nn.ModuleDict({
        "conv": of(nn.Conv2d(3, 4, 3)), "up": of(nn.ConvTranspose2d(4, 5, 2), dim=1),
        "line": of(nn.Conv1d(4, 6, 5, groups=2), dim=2), "all": of(nn.Linear(6, 3), dim=None),
        "narrow": of(nn.Linear(6, 3)).bfloat16()})
    for n, p in net.named_parameters():
        if n.endswith("original0"):
            p.data *= 1.7
    make("parametrized_normed", net)


def spectral(name, of):
    net = nn.ModuleDict({
        "conv": of(nn.Conv2d(3, 4, 3)), "square": of(nn.Conv2d(4, 4, 3)), "up": of(nn.ConvTranspose2d(4, 5, 2)),
        "squareup": of(nn.ConvTranspose2d(4, 4, 2)), "fc": of(nn.Linear(6, 6)),
        "more": of(nn.Conv1d(3, 4, 3), n_power_iterations=3)})
    x = torch.randn(2, 4, 5, 5)
    make(name, net, *10 * [(net["conv"], torch.randn(1, 3, 5, 5)), (net["square"], x), (net["up"], x), (net["squareup"], x),
         (net["fc"], torch.randn(1, 6)), (net["more"], torch.randn(1, 3, 7))])


if __name__ == "__main__":
    torch.manual_seed(35)
    OUT.mkdir(exist_ok=True)
    pruned()
    halves()
    normed()
    if hasattr(parametrizations, "weight_norm"):
        normed_again()
    if sys.argv[1:] != ["check"]:  # layers with functions that no file defines
        torch.save(parametrizations.orthogonal(nn.Linear(3, 3)).state_dict(), OUT / "orthogonal.pth")
    spectral("spectral", spectral_norm)
    spectral("parametrized_spectral", parametrizations.spectral_norm)
