"""survey.py: files of strangers through bnctl, beside ONNX Runtime, or beside Keras' definitions.

survey.py run FOLDER BNCTL LIST [PATTERN...]
    FOLDER holds git repositories, OWNER+NAME each. LIST (survey-onnx.txt, survey-keras.txt) names files in them, a
    line each: repository, path. Predicts 2 samples of random numbers, or as many as a file fixes, with bnctl and with
    the reference, and prints a JSON line for each file: what is in it that is not surveyed (recurrence, control flow
    and so on), or what refused it, or how far the two are apart, relative to the largest value of the output; what is
    less than two units in the last place of 1 is equal, since ONNX Runtime's sigmoid has no smaller ones.
survey.py table FILE...
    Counts such lines.
"""
import json
import os
import subprocess
import sys
import tempfile
import zlib

HERE = sys.path.pop(0)  # onnxruntime.py beside this file is no module for us
import importlib.util

EQUAL = 1e-5
ULPS = 2.4e-7

RECURRENT = {"LSTM", "GRU", "RNN", "Loop", "Scan", "NonMaxSuppression", "SequenceConstruct", "SequenceAt"}


def module(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def blob(folder, repository, path):
    for git in ("repo/.git", "repo", ".git", ""):
        root = os.path.join(folder, repository.replace("/", "+"), git)
        p = subprocess.run(["git", f"--git-dir={root}", "show", "HEAD:" + path], capture_output=True)
        if p.returncode == 0:
            return p.stdout
    return None


def predicted(bnctl, path, x, more=()):
    """Return bnctl's outputs by name, or the sentence of its refusal. Several inputs are a dict."""
    import numpy as np
    args = []
    for i, (name, one) in enumerate(x.items() if isinstance(x, dict) else [("", x)]):
        np.save(f"{path}.{i}.npy", one)
        args.append(f"{name}={path}.{i}.npy" if name else f"{path}.{i}.npy")
    out = path + ".y.npy"
    p = subprocess.run([bnctl, "predict", path, *args, "--logits", "-o", out, *more], capture_output=True, text=True)
    if p.returncode != 0:
        return None, p.stderr.strip().splitlines()[-1]
    if os.path.exists(out):
        return [np.load(out)], ""
    at = os.path.dirname(path)
    files = [f for f in os.listdir(at) if f.startswith(os.path.basename(path) + ".y.") and f.endswith(".npy")]
    return [np.load(os.path.join(at, f)) for f in files], ""


def difference(got, want):
    """The largest difference relative to the largest value of an output; of outputs in any order."""
    import numpy as np
    left, worst = list(got), 0.0
    for w in want:
        fits = []
        for i, g in enumerate(left):
            if g.size != w.size and g.size == len(g) * w.size and (g == g[:1]).all():
                g = g[:1]  # an output that does not depend on the input is the same in every row
            if g.size == w.size:
                with np.errstate(all="ignore"):
                    d = np.abs(g.astype(np.float64).ravel() - w.astype(np.float64).ravel())
                    same = (g.ravel() == w.ravel()) | (np.isnan(g.ravel()) & np.isnan(w.ravel()))
                    far = np.where(same | (d <= ULPS), 0, d).max(initial=0)
                    fits.append((float(far / max(np.abs(w).max(initial=0), 1e-30)), i))
        picks = [i for i, g in enumerate(left) if w.dtype.kind == "i" and g.ndim > 1 and g.size > w.size]
        if not fits and picks:  # the scores that an ArgMax picks from
            same = (left[picks[0]].argmax(1).ravel() == w.ravel()).all()
            fits = [(0.0 if same else 1.0, picks[0])]
        if not fits:
            return None
        least, i = min(fits)
        worst = max(worst, least)
        left.pop(i)
    return worst


class ONNX:
    """Files beside ONNX Runtime."""

    def __init__(self):
        self.node = subprocess.Popen(["node", os.path.join(HERE, "reference.js")], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.version = "ONNX Runtime " + json.loads(self.node.stdout.readline())["version"]

    def excluded(self, path):
        import onnx
        m = onnx.load(path, load_external_data=False)
        ops = {n.op_type for n in m.graph.node}
        domains = {n.domain for n in m.graph.node} - {"", "ai.onnx"}
        given = {t.name for t in m.graph.initializer}
        inputs = [v for v in m.graph.input if v.name not in given]
        kinds = {v.type.tensor_type.elem_type for v in inputs}
        self.inputs = inputs
        outside = [v.HasField("sequence_type") or v.HasField("map_type") for v in (o.type for o in m.graph.output)]
        if ops & RECURRENT:
            return "recurrence, loops or NMS"
        if domains & {"ai.onnx.ml"} or any(outside):
            return "trees and pipelines of ai.onnx.ml"
        if not inputs:
            return "no input"
        if not kinds <= set(self.TYPES):
            return "an input of text or of bfloat16"
        if any(op.startswith(("QLinear", "DynamicQuantize")) or op.endswith("Integer") for op in ops):
            return "arithmetic with integers"
        return None

    TYPES = {1: "float32", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64"}

    def sample(self, path, rng):
        """Numbers for every input: noise, small integers (numbers of words, places), pixels; and options for open lengths."""
        import numpy as np
        xs, more = {}, []
        for v in self.inputs:
            t = v.type.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") and d.dim_value > 0 else 0 for d in t.shape.dim]
            shape = [n or (2 if i == 0 else 64 if i >= len(dims) - 2 and len(dims) > 2 else 3) for i, n in enumerate(dims)]
            if 0 in dims[1:]:
                lengths = ",".join(map(str, shape[1:]))
                more.append(lengths if len(self.inputs) == 1 else f"{v.name}=" + "x".join(map(str, shape[1:])))
            kind = self.TYPES[t.elem_type]
            if kind.startswith("float"):
                x = rng.standard_normal(shape)
            else:
                x = rng.integers(0, 256 if kind == "uint8" else 2, shape)  # rows of every table, places of every axis
            xs[v.name] = np.asarray(x).astype(kind)
        more = ["--input", ",".join(more)] if more else []
        return xs if len(xs) > 1 else next(iter(xs.values())), more

    def outputs(self, path, x):
        import numpy as np
        inputs = []
        for i, (name, one) in enumerate(x.items() if isinstance(x, dict) else [(self.inputs[0].name, x)]):
            one.tofile(f"{path}.x{i}")
            inputs.append({"name": name, "input": f"{path}.x{i}", "shape": list(one.shape), "type": one.dtype.name})
        self.node.stdin.write(json.dumps({"model": path, "inputs": inputs}) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return [np.fromfile(o["file"], o.get("type", "float32")).reshape(o["shape"]) for o in answer["outputs"]]


def survey(kind, folder, bnctl, repository, path):
    import numpy as np
    row = {"repository": repository, "file": path, "reference": kind.version}
    b = blob(folder, repository, path)
    if b is None or b.startswith(b"version https://git-lfs"):
        row["excluded"] = "not in the copy"
        return row
    row["bytes"] = len(b)
    with tempfile.TemporaryDirectory() as at:
        name = os.path.join(at, "file" + os.path.splitext(path)[1])
        with open(name, "wb") as f:
            f.write(b)
        try:
            row["excluded"] = kind.excluded(name)
        except Exception as e:
            row["excluded"] = "the reference's reader: " + str(e).splitlines()[0][:200]
        if row["excluded"]:
            return row
        x, more = kind.sample(name, np.random.default_rng(zlib.crc32((repository + path).encode())))
        row["input"] = {k: list(v.shape) for k, v in x.items()} if isinstance(x, dict) else list(x.shape)
        try:
            want = kind.outputs(name, x)
        except Exception as e:
            row["excluded"] = "the reference: " + (str(e).strip().splitlines() or [repr(e)])[0][:200]
            return row
        got, row["refused"] = predicted(bnctl, name, kind.fed(x) if hasattr(kind, "fed") else x, more)
        if got is not None:
            row["difference"] = difference(got, want)
    return row


def run(folder, bnctl, names, patterns):
    kind = ONNX() if "onnx" in os.path.basename(names) else module("keras_reference").Keras()
    for line in open(names):
        if line.startswith("#") or not line.strip() or patterns and not any(p in line for p in patterns):
            continue
        repository, path = line.rstrip("\n").split("\t")[0].split(" ", 1)
        print(json.dumps(survey(kind, folder, bnctl, repository, path)), flush=True)


def table(files):
    rows = [json.loads(line) for f in files for line in open(f)]
    excluded, refused, far = {}, {}, []
    for r in rows:
        if r["excluded"]:
            excluded[r["excluded"]] = excluded.get(r["excluded"], 0) + 1
        elif r["refused"]:
            refused.setdefault(r["refused"], []).append(r["file"])
        elif r["difference"] is None or r["difference"] > EQUAL:
            far.append((r["repository"], r["file"], r["difference"]))
    seen = [r for r in rows if not r["excluded"]]
    n, no = len(seen), sum(map(len, refused.values()))
    print(f"{len(rows)} files, {n} surveyed, of {len({r['repository'] for r in seen})} repositories")
    print(f"equal {n - no - len(far)} ({100 * (n - no - len(far)) / max(n, 1):.1f} %), refused {no}, further apart {far}")
    print("not surveyed:", excluded)
    for why, which in sorted(refused.items()):
        print(len(which), why[:400], which[:3])


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
    else:
        table(sys.argv[2:])
