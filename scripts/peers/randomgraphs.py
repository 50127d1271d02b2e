"""randomgraphs.py BNCTL COUNT [SEED] [--keep DIR] [--json FILE]: random graphs through bnctl, beside ONNX Runtime.

Every second graph is a torch.nn module (randommodules.py), exported at a random operator set, the others are nodes
(randomnodes.py). A graph depends on its number alone. Each is predicted by bnctl and by ONNX Runtime: one in three as
it is, all of them as the template that strip makes of it; one in three is exported and run by ONNX Runtime. Wrong is
what is further away than 1e-5 of the largest value of the output and than ten times the movement of ONNX Runtime's own
answer under noise of an ulp; other bits after strip; a crash, a wrong exit code or a refusal without a sentence. Prints
what is wrong and counts refusals by reason; exits with 1 if something is wrong.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
if sys.path[0] == HERE:
    sys.path.pop(0)  # onnxruntime.py beside this file is no module for us
sys.path.append(HERE)

import numpy as np
import onnx
import torch

import randommodules
import randomnodes

EQUAL, ULPS, NOISE = 1e-5, 1e-6, 10
OPSETS = [9, 10, 11, 12, 13, 14, 15, 16, 17]


class Runtime:
    """Runtime is ONNX Runtime in a process of Node."""

    def __init__(self, folder):
        self.node = subprocess.Popen(["node", os.path.join(HERE, "reference.js")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.version = json.loads(self.node.stdout.readline())["version"]
        self.path = os.path.join(folder, "asked.onnx")

    def __call__(self, model, x, level=None):
        """The outputs of a model, bytes or a path, by name."""
        path = model
        if isinstance(model, bytes):
            path = self.path
            with open(path, "wb") as f:
                f.write(model)
        x.tofile(self.path + ".x")
        ask = {"model": path, "input": self.path + ".x", "shape": list(x.shape), "type": x.dtype.name}
        if level:
            ask["level"] = level
        self.node.stdin.write(json.dumps(ask) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return {o["name"]: np.fromfile(o["file"], o["type"]).reshape(o["shape"]) for o in answer["outputs"]}


def apart(got, want):
    """The largest difference, of the largest value; None for another shape."""
    if got.shape != want.shape and got.size == want.size and [n for n in got.shape if n > 1] != [n for n in want.shape if n > 1]:
        return None
    if got.size != want.size:
        if got.ndim and got.size == len(got) * want.size and (got == got[:1]).all():
            got = got[:1]  # an output that does not depend on the input
        else:
            return None
    a, b = got.astype(np.float64).ravel(), want.astype(np.float64).ravel()
    with np.errstate(all="ignore"):
        d = np.abs(a - b)
        d[(a == b) | (np.isnan(a) & np.isnan(b)) | (d <= ULPS)] = 0
        finite = np.abs(b[np.isfinite(b)])
        d = d / max(finite.max(initial=0), 1e-30)
    return float(np.where(np.isnan(d), np.inf, d).max(initial=0))


class Graphs:
    def __init__(self, bnctl, folder):
        self.bnctl, self.folder, self.runtime = bnctl, folder, Runtime(folder)
        self.tally, self.refusals, self.wrongs = collections.Counter(), collections.Counter(), 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, *args):
        return subprocess.run([self.bnctl, *args, "--quiet"], capture_output=True, text=True, timeout=120)

    def draw(self, number):
        """draw writes a graph and returns its rows, what PyTorch says, and its source."""
        r = random.Random(number)
        if number % 2:
            drawn = randomnodes.draw(r, self.runtime)
            if drawn is None:
                return None
            with open(self.path("g.onnx"), "wb") as f:
                f.write(drawn[0])
            return drawn[1], None, "nodes"
        net, source, x, outputs = randommodules.draw(r)
        rows = r.choice([1, 2, 3])
        free = r.random() < 0.7
        names = [f"o{i}" for i in range(len(outputs))]
        keep = r.random() < 0.3
        for opset in [r.choice(OPSETS), r.choice(OPSETS[4:]), OPSETS[-1], None]:
            if opset is None:
                return None
            try:
                torch.onnx.export(net, x[:rows].clone(), self.path("g.onnx"), opset_version=opset, input_names=["x"], output_names=names,
                                  dynamic_axes={n: {0: "n"} for n in ["x"] + names} if free else None, do_constant_folding=not keep,
                                  training=torch.onnx.TrainingMode.PRESERVE if keep else torch.onnx.TrainingMode.EVAL)
                break
            except Exception:
                continue
        x = x if free else x[:rows]
        net.eval()
        with torch.no_grad():
            y = net(x.clone())
        return x.numpy(), [t.numpy() for t in (y if isinstance(y, tuple) else (y,))], source

    def predicted(self, model, out):
        """predicted returns outputs by name, or what bnctl says."""
        p = self.command("predict", self.path(model), self.path("x.npy"), "--logits", "-o", self.path(out + ".npy"))
        if p.returncode:
            return None, p
        if os.path.exists(self.path(out + ".npy")):
            return {"": np.load(self.path(out + ".npy"))}, p
        found = [f for f in os.listdir(self.folder) if f.startswith(out + ".") and f.endswith(".npy")]
        return {f[len(out) + 1:-4]: np.load(self.path(f)) for f in found}, p

    def compared(self, got, want):
        """compared returns the outputs that differ, with how far."""
        far = {}
        for name, w in want.items():
            g = got.get("") if len(want) == 1 and "" in got else got.get(name, got.get(re.sub(r"\W+", "_", name).strip("_")))
            if g is None:
                fits = [v for v in got.values() if v.size == w.size]
                g = min(fits, key=lambda v: apart(v, w) if apart(v, w) is not None else np.inf, default=None)
            d = apart(g, w) if g is not None else None
            if d is None or d > EQUAL:
                far[name] = "none" if g is None else f"shape {g.shape}, want {w.shape}" if d is None else d
        return far

    def loose(self, far, x, want):
        """loose drops differences that noise of an ulp makes in ONNX Runtime's answer as well."""
        rng = np.random.default_rng(1)
        for name, d in list(far.items()):
            if not isinstance(d, float):
                continue
            moved = 0
            for _ in range(8):
                y = x * (1 + 1.2e-7 * rng.choice([-1, 0, 1], x.shape)).astype(np.float32)
                moved = max(moved, apart(self.runtime(self.path("g.onnx"), y)[name], want[name]) or 0)
            moved = max(moved, apart(self.runtime(self.path("g.onnx"), x, "disabled")[name], want[name]) or 0)
            if d <= NOISE * moved:
                del far[name]
                self.tally["within noise"] += 1
        return far

    def one(self, number):
        """one tries a graph; it returns what is wrong."""
        for f in os.listdir(self.folder):
            os.unlink(self.path(f))
        drawn = self.draw(number)
        if drawn is None:
            self.tally["not exported"] += 1
            return None
        x, torchs, source = drawn
        with open(self.path("g.py"), "w") as f:
            f.write(source)
        np.save(self.path("x.npy"), x)
        try:
            want = self.runtime(self.path("g.onnx"), x)
        except RuntimeError:
            self.tally["not run by ONNX Runtime"] += 1
            return None
        if torchs and any((apart(a, b) or 0) > 1e-3 for a, b in zip(torchs, want.values())):
            self.tally["PyTorch and ONNX Runtime differ"] += 1
        got = None
        if number % 6 < 2:
            got, p = self.predicted("g.onnx", "y")
            if got is None:
                return self.refused(p)
        p = self.command("strip", self.path("g.onnx"), "-o", self.path("g.bnm"))
        if p.returncode:
            return self.refused(p) if got is None else "strip refuses what predict reads: " + p.stderr[:300]
        again, p = self.predicted("g.bnm", "z")
        if again is None and "a sample of npy is" in p.stderr:  # rows mix, and a sample is all of x
            np.save(self.path("x.npy"), x[None])
            again, p = self.predicted("g.bnm", "z")
        if again is None:
            return "predict of the template: " + p.stderr[:300]
        if got is not None and (again.keys() != got.keys() or any(again[k].tobytes() != got[k].tobytes() for k in got)):
            return "the template gives other bits"
        far = self.loose(self.compared(again, want), x, want)
        if far:
            return f"predict: {far}"
        self.tally["right"] += 1
        return self.home(want, x) if number % 6 > 3 else None

    def refused(self, p):
        text = (p.stderr.strip().splitlines() or [""])[-1]
        if p.returncode not in (1, 2) or "panic" in p.stderr or "goroutine" in p.stderr or not text:
            return f"crash: exit code {p.returncode}: {p.stderr[:300]}"
        self.tally["refused"] += 1
        text = re.sub(r"'[^']*'|\"[^\"]*\"|\S*/[\w./:]+|\b[a-z]\w*\d+\b|\d+", "*", text.split(".onnx: ", 1)[-1])
        self.refusals[text[:160]] += 1
        return None

    def home(self, want, x):
        """home exports the template and compares again."""
        p = self.command("export", self.path("g.bnm"), "-o", self.path("h.onnx"))
        if p.returncode:
            if p.returncode != 1 or "goroutine" in p.stderr:
                return f"export: exit code {p.returncode}: {p.stderr[:300]}"
            self.refusals["export: " + re.sub(r"\S*/[\w./:]+|\d+", "*", p.stderr.strip().splitlines()[-1])[:160]] += 1
            self.tally["export refused"] += 1
            return None
        whole = len(onnx.load(self.path("h.onnx")).graph.input[0].type.tensor_type.shape.dim) > x.ndim  # a sample is all of x
        try:
            back = self.runtime(self.path("h.onnx"), x[None] if whole else x)
        except RuntimeError as e:
            return f"ONNX Runtime refuses the export: {e}"
        if whole:
            back = {k: v[0] for k, v in back.items()}
        far = self.loose(self.compared(back, want), x, want)
        if far:
            return f"export: {far}"
        self.tally["exported and right"] += 1
        return None


def main():
    args = sys.argv[1:]
    option = lambda name: args[args.index(name) + 1] if name in args else None
    keep, out = option("--keep"), option("--json")
    bnctl, count, seed = args[0], int(args[1]), int(args[2]) if len(args) > 2 and args[2][0] != "-" else 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        g = Graphs(os.path.abspath(bnctl), folder)
        for number in range(seed, seed + count):
            try:
                wrong = g.one(number)
            except subprocess.TimeoutExpired:
                wrong = "bnctl does not end"
            if out and number % 20 == 0:
                with open(out, "w") as f:
                    json.dump({"next": number + 1, "tally": g.tally, "refusals": g.refusals}, f)
            if wrong:
                g.tally["wrong"] += 1
                print(f"{number}: {wrong}", flush=True)
                if keep:
                    os.makedirs(keep, exist_ok=True)
                    for f in ("g.onnx", "x.npy", "g.py", "h.onnx", "g.bnm"):
                        if os.path.exists(g.path(f)):
                            subprocess.run(["cp", g.path(f), os.path.join(keep, f"{number}.{f[2:] if f[0] != 'h' else 'back.onnx'}")])
    for text, n in g.refusals.most_common():
        print(f"refused {n} times: {text}")
    print(f"seeds {seed} to {seed + count - 1}, ONNX Runtime {g.runtime.version}, PyTorch {torch.__version__}: " + ", ".join(f"{n} {what}" for what, n in sorted(g.tally.items())))
    if out:
        with open(out, "w") as f:
            json.dump({"tally": g.tally, "refusals": g.refusals}, f)
    sys.exit(1 if g.tally["wrong"] else 0)


if __name__ == "__main__":
    main()
