#!/usr/bin/env python3
"""detectors.py: boxes of detectors in ONNX by bnctl, beside ONNX Runtime.

    NODE_PATH=$(sh scripts/peers.sh) /usr/bin/python3 -W ignore scripts/peers/detectors.py FOLDER BNCTL [NAME...] > FILE.json

FOLDER holds git repositories, OWNER+NAME each, with the files of STRANGERS. MADE are networks of their authors'
designs with random weights, which are exported here by PyTorch (detectornetworks.py). For each file the same picture of random numbers is
predicted by both, and both outputs become boxes by the same function; a file of a form that bnctl reads as boxes is
also predicted as a picture, and its boxes are compared with those that numpy finds in ONNX Runtime's outputs. For a network
made here with one output, the largest distances of ONNX Runtime's and of bnctl's corners from PyTorch's in float64 are
given, of boxes in pixels. Boxes match if class and score (1e-4) agree and corners within 1e-3 of a pixel, and are near within 0.05. Of other boxes only those are explained
of which the score is within 1e-5 of the least score or of another box's score.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HERE = sys.path.pop(0)
import importlib.util

import numpy as np

# Repository, path, first digits of the SHA-256, form, mean and deviation of pixels (0 to 255). The form "raw" is compared as it is.
STRANGERS = [
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "models/onnx/version-RFB-320.onnx", "34cd7e60aeff", "ssd", 127, 128),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "models/onnx/version-RFB-640.onnx", "8f4c65927597", "ssd", 127, 128),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "models/onnx/version-slim-320.onnx", "e9adbd0f920d", "ssd", 127, 128),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "masked_face/pretrained/RFB-640-masked_face-v2.onnx", "27ca3e5985f7", "ssd", 127, 128),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "masked_face/pretrained/RFB-1280-masked_face-v2.onnx", "7514455d81b1", "ssd", 127, 128),
    ("kenken118/tflite2", "yolox_nano_quantize.onnx", "58f18d607cbc", "yolox", 0, 1),
    ("Bigisland1729/object-detection-models", "yolox_nano.onnx", "e8af074932d4", "yolox", 0, 1),
    ("Devon-Scott/YOLOX", "yolox_nano.onnx", "358417533cc7", "yolox", 0, 1),
    ("w-okada/yolox-onnx-test", "models/yolox_nano_256x320.onnx", "e06a2bb52b4b", "yolox", 0, 1),
    ("w-okada/yolox-onnx-test", "models/yolox_nano_256x480.onnx", "d298a7aefd84", "yolox", 0, 1),
    ("w-okada/yolox-onnx-test", "models/yolox_nano_320x320.onnx", "cc51f493f3f8", "yolox", 0, 1),
    ("w-okada/yolox-onnx-test", "models/yolox_nano_384x640.onnx", "dfc20f338604", "yolox", 0, 1),
    ("w-okada/yolox-onnx-test", "models/yolox_nano_480x640.onnx", "4b8525d6a666", "yolox", 0, 1),
    ("w-okada/yolox-onnx-test", "models/yolox_nano_640x640.onnx", "d015b03bd08c", "yolox", 0, 1),
    ("kenken118/tflite2", "quantized_model.onnx", "9d6374352d99", "yolox", 0, 1),
    ("TandatH/AI_TRASH", "best_int8.onnx", "7fbdf2d26f43", "yolov8", 0, 255),
    ("JohnScarrow/RoboticsFinal", "best_int8.onnx", "43c40c84f551", "yolov8", 0, 255),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "models/onnx/version-RFB-320_simplified.onnx", "faf6740b495e", "raw", 127, 128),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "models/onnx/version-slim-320_simplified.onnx", "0863d8fedffb", "raw", 127, 128),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "models/onnx/version-RFB-320_without_postprocessing.onnx", "d7c687949526", "raw", 127, 128),
    ("Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB", "models/onnx/version-slim-320_without_postprocessing.onnx", "6e12bb34a36e", "raw", 127, 128),
    ("hpc203/nanodet-opncv-dnn-cpp-python", "nanodet.onnx", "c59b6c947ce4", "raw", 116, 57),
    ("hpc203/nanodet-opncv-dnn-cpp-python", "nanodet_m.onnx", "4b82da9944b8", "raw", 116, 57),
    ("hpc203/yolo-fastestv2-opencv", "model.onnx", "27c34bbd0d05", "raw", 0, 255),
    ("hpc203/scrfd-opencv", "weights/scrfd_500m_kps.onnx", "517cb1980c72", "raw", 127.5, 128),
    ("hpc203/scrfd-opencv", "weights/scrfd_2.5g_kps.onnx", "32d20c77b9e2", "raw", 127.5, 128),
    ("jnulzl/ncnn_quant_python_demo", "best_320_opt.onnx", "5c5271332bbd", "raw", 0, 255),
    ("kivenyangming/yolox-bubbliiiing-onnx", "yolox_nano.onnx", "adf37537143b", "raw", 0, 255),
    ("tup-robomaster/AutoLabel", "model/yolox.onnx", "36e7ce80599b", "raw", 0, 1),
    ("tup-robomaster/AutoLabel", "model/model_64cls.onnx", "6f99ea2d6e1e", "raw", 0, 1),
    ("RuDr8A/RealTime-PPE-Compliance", "face_detection_yunet_2026may.onnx", "ebafce4e3c11", "raw", 0, 1),
]
MADE = ["yolov5", "yolov5@160x96", "yolov5-nms", "yolov5-nms:11", "yolov8", "yolov8@96x160", "yolov8-nms", "yolov8-nms:16",
        "yolox", "yolox@96x160", "yolox-decoded", "yolox-inplace:11", "yolox-nms", "yolox_tiny", "yolox_tiny-decoded", "yolox_s", "yolox_s-decoded",
        "yolox_s-nms", "ssd", "ssd@96x160", "ssd-nms", "ssd-nms:11", "detr", "detr@96x160", "detr-topk",
        "retinanet-torchvision", "retinanet-torchvision@96x160", "retinanet_v2-torchvision", "fcos-torchvision",
        "fcos-torchvision@160x96", "ssdlite-torchvision", "ssdlite-torchvision:16", "ssd300-torchvision"]
SIDE, LEAST, OVERLAP, MOST = 128, 0.25, 0.45, 300


def module(name):
    path = list(sys.path)
    try:
        return loaded(name)
    finally:
        sys.path[:] = path  # some of them remove their folder


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def picture(height, width, seed=3):
    """Random squares and noise, u8 [H,W,3]."""
    rng = np.random.RandomState(seed)
    p = rng.randint(0, 60, (height, width, 3))
    for _ in range(12):
        y, x, s = rng.randint(height), rng.randint(width), rng.randint(8, max(9, height // 2))
        p[y:y + s, x:x + s] = rng.randint(0, 196, 3) + rng.randint(0, 60, p[y:y + s, x:x + s].shape)
    return p.astype(np.uint8)


def suppressed(boxes, scores, classes, least, most):
    """Boxes (corners, score, class) that non-maximum suppression leaves, class by class."""
    left = []
    for i in np.argsort(-scores, kind="stable"):
        if scores[i] > least:
            left.append(i)
    chosen = []
    for i in left:
        if len(chosen) == most:
            break
        a = boxes[i]
        for k in chosen:
            b = boxes[k]
            w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            if classes[k] == classes[i] and w > 0 and h > 0:
                union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h
                if w * h / union > OVERLAP:
                    break
        else:
            chosen.append(i)
    return [(boxes[i], float(scores[i]), int(classes[i])) for i in chosen]


def corners(b):
    return np.concatenate([b[:, :2] - b[:, 2:4] / 2, b[:, :2] + b[:, 2:4] / 2], 1)


def boxes_of(form, outs, height, width, least, most=MOST):
    """Boxes (corners in pixels, score, class) in outputs, by name, of one picture."""
    y = [np.asarray(v)[0] if v.ndim > 2 else np.asarray(v) for v in outs.values()]
    if form == "yolov8":
        y = y[0].T
        return suppressed(corners(y), y[:, 4:].max(1), y[:, 4:].argmax(1), least, most)
    if form in ("yolov5", "yolox-decoded"):
        y = y[0]
        return suppressed(corners(y), y[:, 4] * y[:, 5:].max(1), y[:, 5:].argmax(1), least, most)
    if form == "yolox":
        y, n = y[0].astype(np.float64), 0
        for s in 8, 16, 32:
            for row in range(height // s):
                for column in range(width // s):
                    y[n, :2], y[n, 2:4] = (y[n, :2] + (column, row)) * s, np.exp(y[n, 2:4]) * s
                    n += 1
        return suppressed(corners(y), y[:, 4] * y[:, 5:].max(1), y[:, 5:].argmax(1), least, most)
    if form == "ssd":
        b = next(v for v in y if v.shape[-1] == 4)
        s = next(v for v in y if v is not b)[:, 1:]
        at = np.argwhere(s > least)
        return suppressed((b * np.float32([width, height, width, height]))[at[:, 0]], s[at[:, 0], at[:, 1]], at[:, 1], least, most)
    if form == "detr":
        b, s = (y[0], y[1]) if y[0].shape[-1] == 4 else (y[1], y[0])
        at = np.argwhere(s[:, :-1] > least)
        b = corners(b) * [width, height, width, height]
        return [(b[i], float(s[i, c]), int(c)) for i, c in at]
    b = next(v for v in y if v.ndim == 2 and v.shape[-1] == 4)  # a file with its own post-processing
    s = next(v for v in y if v.ndim == 1 and v.dtype == np.float32)
    c = next(v for v in y if v.ndim == 1 and v.dtype != np.float32)
    return [(b[i], float(s[i]), int(c[i])) for i in range(len(s))]


def least_score(form, outs, height, width):
    """A score in the widest gap between the scores of 15 to 60 boxes; LEAST for a file with its own limit."""
    if form == "own":
        return LEAST
    scores = sorted((s for _, s, _ in boxes_of(form, outs, height, width, 1e-6, 61)), reverse=True)
    gaps = [(a - b, (a + b) / 2) for a, b in zip(scores[14:60], scores[15:61])]
    return max(gaps)[1] if gaps else LEAST


def compare(got, want, least):
    """Counts of boxes, matched ones, near ones (0.05 pixels), others with a reason and without, and the largest distance."""
    left, far, matched, near, lost = list(got), 0.0, 0, 0, []
    for b, s, c in want:
        fits = [(np.abs(np.asarray(g[0], np.float64) - b).max(), i) for i, g in enumerate(left) if g[2] == c and abs(g[1] - s) <= 1e-3]
        if fits and min(fits)[0] <= 0.05:
            apart, i = min(fits)
            exact = bool(apart <= 1e-3 and abs(left[i][1] - s) <= 1e-4)
            matched, near, far = matched + exact, near + (not exact), max(far, apart)
            left.pop(i)
        else:
            lost.append((b, s, c))
    scores = [s for _, s, _ in want]
    tied = lambda s: abs(s - least) <= 1e-5 or sum(abs(s - v) <= 1e-5 for v in scores) > 1
    explained = sum(tied(s) for _, s, _ in lost + left)
    return {"boxes": len(want), "matched": matched, "near": near, "explained": int(explained),
            "unmatched": int(len(lost) + len(left) - explained), "pixels": float(far)}


def distance(boxes, truth):
    """The largest distance of a corner from that of the nearest box of its class."""
    apart = [min((np.abs(np.asarray(t, np.float64) - b).max() for t, _, k in truth if k == c), default=0) for b, _, c in boxes]
    return max(apart, default=0.0)


class Runtime:
    """ONNX Runtime for node."""

    def __init__(self):
        self.node = subprocess.Popen(["node", os.path.join(HERE, "reference.js")], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.version = json.loads(self.node.stdout.readline())["version"]

    def run(self, path, x):
        x.tofile(path + ".x")
        self.node.stdin.write(json.dumps({"model": path, "input": path + ".x", "shape": list(x.shape)}) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return {o["name"]: np.fromfile(o["file"], o["type"]).reshape(o["shape"]) for o in answer["outputs"]}


def bnctl_outputs(bnctl, path, x, want, more):
    """Outputs of a file for an array, in the shapes of ONNX Runtime's, which may lack the axis of the batch."""
    np.save(path + ".npy", x)
    p = subprocess.run([bnctl, "predict", path, path + ".npy", "--logits", "--format", "npy", "-o", path + ".y.npy", *more],
                       capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(p.stderr.strip().splitlines()[-1])
    out = {n: np.load(path + ".y.npy" if len(want) == 1 else f"{path}.y.{n}.npy") for n in want}
    return {n: v[0] if v.ndim == want[n].ndim + 1 else v for n, v in out.items()}


def bnctl_boxes(bnctl, path, pixels, form, mean, deviation, least):
    """Boxes that predict prints for a picture."""
    from PIL import Image
    Image.fromarray(pixels).save(path + ".png")
    unit = lambda v: ",".join([repr(v / 255)] * 3)
    p = subprocess.run([bnctl, "predict", path, path + ".png", "--json", "--quiet", "--box-score", repr(least), "--box-overlap",
                        str(OVERLAP), "--boxes", form, "--mean", unit(mean), "--std", unit(deviation)], capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(p.stderr.strip().splitlines()[-1])
    row = next(r for r in map(json.loads, p.stdout.splitlines()) if "boxes" in r)
    return [(b["box"], b["score"], b["index"]) for b in row["boxes"]]


def clipped(boxes, height, width):
    """predict cuts boxes at the border, and leaves those outside out."""
    for b, s, c in boxes:
        b = np.clip(b, 0, [width, height, width, height])
        if b[2] > b[0] and b[3] > b[1]:
            yield b, s, c


def main():
    folder, bnctl, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    runtime, rows = Runtime(), []
    with tempfile.TemporaryDirectory() as at:
        todo = STRANGERS + [("", n, "", n, 0, 255) for n in MADE]
        for repository, name, digest, form, mean, deviation in todo:
            if wanted and not any(w in name for w in wanted):
                continue
            path, row, exact = os.path.join(at, "model.onnx"), {"file": name}, None
            if repository:
                row["repository"] = repository
            try:
                if repository:
                    blob = module("survey").blob(folder, repository, name)
                    if blob is None:
                        raise RuntimeError("the file is not there")
                    if not hashlib.sha256(blob).hexdigest().startswith(digest):
                        raise RuntimeError("the file is another one")
                    open(path, "wb").write(blob)
                else:
                    form, exact = module("detectornetworks").export(name, path, SIDE, picture)
                row["form"] = form
                import onnx
                model = onnx.load(path)
                given = {t.name for t in model.graph.initializer}
                dims = [d.dim_value or 1 for d in next(v for v in model.graph.input if v.name not in given).type.tensor_type.shape.dim]
                height, width = dims[-2], dims[-1]
                more = []
                if height < 8:  # it is open
                    height, width = 160, 160
                    more = ["--input", "3,160,160"]
                pixels = picture(height, width)
                x = ((pixels.astype(np.float32) - mean) / np.float32(deviation)).transpose(2, 0, 1)
                x = np.ascontiguousarray(x if len(dims) == 3 else x[None])
                want = runtime.run(path, x)
                got = bnctl_outputs(bnctl, path, x, want, more)
                if form == "raw":
                    apart = max(float(np.abs(got[k].ravel() - w.ravel()).max() / max(np.abs(w).max(), 1e-30)) for k, w in want.items())
                    row.update(numbers=int(sum(w.size for w in want.values())), apart=apart)
                else:
                    least = least_score(form, want, height, width)
                    expected = boxes_of(form, want, height, width, least)
                    row.update(compare(boxes_of(form, got, height, width, least), expected, least))
                if exact and form != "own":
                    truth = boxes_of(form, {"": exact(x)}, height, width, least)
                    row["exact"] = [distance(boxes_of(form, y, height, width, least), truth) for y in (want, got)]
                if form in ("yolov5", "yolov8", "yolox", "yolox-decoded", "ssd"):
                    row["as_picture"] = compare(bnctl_boxes(bnctl, path, pixels, form, mean, deviation, least),
                                                list(clipped(expected, height, width)), least)
            except Exception as e:  # one file is not all
                row["error"] = f"{type(e).__name__}: {e}"[:300]
            print(json.dumps(row), file=sys.stderr, flush=True)
            rows.append(row)
    print(json.dumps(table(rows, runtime.version), indent=1))


COLUMNS = ["boxes", "matched", "near", "explained", "unmatched", "pixels"]


def table(rows, version):
    """The rows as a file of docs/results."""
    import datetime
    lines = []
    for r in rows:
        name = r.get("repository", "made here") + ": " + r["file"]
        for kind, v in ("outputs", r), ("picture", r.get("as_picture")):
            if v:
                counts = [f"{v[c]:.2g}" if c == "pixels" else str(v[c]) for c in COLUMNS] if "boxes" in v else [""] * len(COLUMNS)
                exact = [f"{e:.2g}" for e in v.get("exact", [])] or ["", ""]
                lines.append([name, r.get("form", ""), kind, *counts, *exact, f"{v['apart']:.2g}" if "apart" in v else "",
                              v.get("error", "")])
    cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "")
    return {"processor": f"{cpu}, {os.cpu_count()} logical CPUs", "measured": str(datetime.date.today()),
            "command": "make test-detectors", "conditions": f"ONNX Runtime {version}; one picture of "
            "random squares for each file; made here: random weights, and batch norms with the statistics of such pictures and "
            "a bias of 1 (FCOS, RetinaNet, SSD, SSDlite: of 0); the columns beside float64 have networks with one output",
            "columns":
            ["file", "form", "compared as", *COLUMNS, "ONNX Runtime from float64", "bnctl from float64",
                                         "difference of raw outputs", "error"], "rows": lines}


if __name__ == "__main__":
    main()
