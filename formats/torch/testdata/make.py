"""Makes cases/ and goldens.txt with PyTorch (any from 1.13 on). Run here:

    python3 make.py ../../../shared/data

goldens.txt has a line per tensor: name, type, shape, SHA-256 of its elements
(row-major, little endian), as PyTorch reads the file, under the file's name.
Of files in the data folder it has the SHA-256 of those lines.
"""
import argparse, collections, glob, hashlib, io, os, pickle, struct, sys, zipfile
import torch

OUT = "cases"


def save(name, value, **kw):
    torch.save(value, os.path.join(OUT, name), **kw)


def example(seed=0, shape=(3, 4)):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=g)


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.BatchNorm2d(3))


def cases():
    base = torch.arange(24, dtype=torch.float32)
    views = {
        "offset": base[5:11],
        "stride": base[::3],
        "transposed": base.view(4, 6).t(),
        "expanded": base[:3].view(3, 1).expand(3, 5),
        "channels_last": example(2, (2, 3, 4, 5)).contiguous(memory_format=torch.channels_last),
        "scalar": torch.tensor(3.5),
        "empty": torch.empty(0, 3),
        "tied": base,
    }
    types = {str(d).split(".")[1]: (example(3) * 10).to(d) for d in (
        torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.uint8, torch.bool)}
    for kind, kw in (("zip", {}), ("legacy", {"_use_new_zipfile_serialization": False})):
        save(f"views_{kind}.pth", views, **kw)
        save(f"types_{kind}.pth", types, **kw)
    for p in (1, 2, 3, 4, 5):
        save(f"protocol{p}.pth", {"state_dict": views, "epoch": 7}, pickle_protocol=p)
    save("protocol1_legacy.pth", {"state_dict": views, "big": 2**40}, pickle_protocol=1,
         _use_new_zipfile_serialization=False)
    save("protocol4_legacy.pth", {"state_dict": views}, pickle_protocol=4, _use_new_zipfile_serialization=False)
    net = network()
    save("parameters.pth", dict(net.named_parameters()))
    opt = torch.optim.Adam(net.parameters())
    net(torch.ones(2, 2, 5, 5)).sum().backward()
    opt.step()
    ema = {k: v * 0.5 for k, v in net.state_dict().items()}
    save("training.pth.tar", {
        "epoch": 3, "arch": "tiny", "best_acc": torch.tensor(0.5).item(), "args": argparse.Namespace(lr=0.1),
        "counts": collections.Counter("abca"), "state_dict": torch.nn.DataParallel(net).state_dict(),
        "state_dict_ema": ema, "optimizer": opt.state_dict(), "scheduler": {"last_epoch": 3}})
    save("gan.pth", {"netG": net.state_dict(), "netD": network().state_dict()})
    save("nested.pth", {"model": {"body": dict(net.state_dict()), "head": {"w": base}}})
    big_endian("bigendian.pth")


def big_endian(name):
    """Converts a zip archive to the form of a big-endian machine."""
    buf = io.BytesIO()
    torch.save({"a": example(4), "n": torch.tensor([1, 2, 3])}, buf)
    with zipfile.ZipFile(buf) as src, zipfile.ZipFile(os.path.join(OUT, name), "w") as dst:
        for m in src.infolist():
            data, width = src.read(m), {"archive/data/0": 4, "archive/data/1": 8}.get(m.filename)
            if width:
                data = b"".join(data[i:i + width][::-1] for i in range(0, len(data), width))
            dst.writestr(zipfile.ZipInfo(m.filename), b"big" if m.filename.endswith("byteorder") else data)
        if "archive/byteorder" not in src.namelist():
            dst.writestr(zipfile.ZipInfo("archive/byteorder"), b"big")


def flatten(v, prefix=""):
    for k, x in v.items():
        if isinstance(x, torch.Tensor):
            yield prefix + str(k), x.detach().contiguous()
        elif isinstance(x, dict):
            yield from flatten(x, prefix + str(k) + ".")


def digest(t):
    raw = t.view(torch.int16) if t.dtype == torch.bfloat16 else t
    return hashlib.sha256(raw.numpy().tobytes()).hexdigest()


def golden(path):
    v = torch.load(path, map_location="cpu")
    for k in ("state_dict", "model_state_dict", "my_state_dict"):
        v = v.get(k, v) if isinstance(v, dict) else v
    for name, t in flatten(v):
        yield line(name, t)


def line(name, t):
    return f"{name} {str(t.dtype).split('.')[1]} {','.join(map(str, t.shape)) or '-'} {digest(t)}\n"


def main(data):
    os.makedirs(OUT, exist_ok=True)
    cases()
    with open("goldens.txt", "w") as out:
        for p in sorted(glob.glob(OUT + "/*")):
            if "gan" in p or "nested" in p:
                continue  # two state dicts: the reader asks for a key
            if "bigendian" in p:  # PyTorch 1.13 does not look at the member byteorder
                lines = line("a", example(4)) + line("n", torch.tensor([1, 2, 3]))
            else:
                lines = "".join(golden(p))
            out.write(f"# {p}\n{lines}")
        for p in sorted(glob.glob(data + "/format-cases/pytorch/*/*") + glob.glob(data + "/checkpoints/pytorch/*th")):
            if p.endswith(("broken.pt", "tar_weight_bias.tar")):
                continue  # not a checkpoint; hand-made, PyTorch does not read it
            lines = "".join(golden(p)).encode()
            out.write(f"# data/{os.path.relpath(p, data)}\n{hashlib.sha256(lines).hexdigest()}\n")


if __name__ == "__main__":
    main(sys.argv[1])
