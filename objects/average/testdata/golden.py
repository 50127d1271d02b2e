#!/usr/bin/env python3
"""Writes golden.json: random sets and detections with their figures.

usage: golden.py COCOEVAL > golden.json

COCOEVAL is PythonAPI/pycocotools/cocoeval.py of github.com/cocodataset/cocoapi. It runs unchanged, except that the
bounding-box overlap of its C module (bbIou of maskApi.c) is replaced by the one in this file, in numpy. VOC's
figures are computed here in numpy as VOCevaldet.m and VOCap.m of the development kit do.
"""
import contextlib, io, json, random, sys, types
import numpy as np

np.float = float  # cocoeval.py is older than numpy 1.24
mask = types.ModuleType("pycocotools.mask")


def iou(dt, gt, crowd):
    out = np.zeros((len(dt), len(gt)))
    for i, d in enumerate(dt):
        for k, g in enumerate(gt):
            w = min(d[2] + d[0], g[2] + g[0]) - max(d[0], g[0])
            h = min(d[3] + d[1], g[3] + g[1]) - max(d[1], g[1])
            if w > 0 and h > 0:
                common = w * h
                out[i, k] = common / (d[2] * d[3] if crowd[k] else d[2] * d[3] + g[2] * g[3] - common)
    return out


mask.iou = iou
package = types.ModuleType("pycocotools")
package.mask = mask
package.__path__ = []
sys.modules["pycocotools"], sys.modules["pycocotools.mask"] = package, mask
module = types.ModuleType("pycocotools.cocoeval")
module.__package__ = "pycocotools"
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), module.__dict__)


class Table:
    """The part of pycocotools.coco.COCO that cocoeval.py calls."""

    def __init__(self, images, categories, annotations):
        self.images, self.categories, self.annotations = images, categories, {a["id"]: a for a in annotations}

    def getImgIds(self):
        return list(self.images)

    def getCatIds(self):
        return list(self.categories)

    def getAnnIds(self, imgIds, catIds):
        return [a["id"] for i in imgIds for a in self.annotations.values()
                if a["image_id"] == i and a["category_id"] in catIds]

    def loadAnns(self, ids):
        return [self.annotations[i] for i in ids]


def coco(images, categories, truth, found):
    found = [dict(f, id=n + 1, area=f["bbox"][2] * f["bbox"][3], iscrowd=0) for n, f in enumerate(found)]
    e = module.COCOeval(Table(images, categories, [dict(t) for t in truth]), Table(images, categories, found), "bbox")
    with contextlib.redirect_stdout(io.StringIO()):
        e.evaluate(), e.accumulate(), e.summarize()
    classes = []
    for k in range(len(categories)):
        p, r = e.eval["precision"][:, :, k, 0, 2], e.eval["recall"][:, k, 0, 2]
        classes.append([float(v[v > -1].mean()) if (v > -1).any() else -1 for v in (p, p[0], r)])
    return [float(v) for v in e.stats], classes


def voc(images, category, truth, found):
    """Returns all-point and 11-point AP of one class; crowds are the difficult objects."""
    found = [f for f in found if f["category_id"] == category]
    found = sorted(found, key=lambda f: (-f["score"], f["image_id"]))
    objects = {i: [t for t in truth if t["image_id"] == i and t["category_id"] == category] for i in images}
    positives = sum(not t["iscrowd"] for o in objects.values() for t in o)
    if positives == 0:
        return [-1, -1]
    hit, tp, fp = set(), [], []
    for f in found:
        row = iou([f["bbox"]], [t["bbox"] for t in objects[f["image_id"]]], [0] * 99)[0]
        best = int(row.argmax()) if len(row) else -1
        t = objects[f["image_id"]][best] if best >= 0 else None
        if t is None or row[best] < 0.5:
            tp.append(0), fp.append(1)
        elif t["iscrowd"]:
            tp.append(0), fp.append(0)
        elif t["id"] in hit:
            tp.append(0), fp.append(1)
        else:
            hit.add(t["id"])
            tp.append(1), fp.append(0)
    tp, fp = np.cumsum(tp), np.cumsum(fp)
    with np.errstate(invalid="ignore"):
        recall, precision = tp / positives, np.nan_to_num(tp / (tp + fp))
    points = sum(max([p for n, p in zip(tp, precision) if 10 * n >= t * positives], default=0) for t in range(11)) / 11
    r, p = np.concatenate([[0], recall, [1]]), np.concatenate([[0], precision, [0]])
    for i in range(len(p) - 2, -1, -1):
        p[i] = max(p[i], p[i + 1])
    changes = np.nonzero(r[1:] != r[:-1])[0] + 1
    return [float(((r[changes] - r[changes - 1]) * p[changes]).sum()), float(points)]


def case(seed):
    r = random.Random(seed)
    images = sorted(r.sample(range(1, 1000), r.randint(1, 12)))
    categories = sorted(r.sample(range(1, 90), r.randint(1, 4)))
    truth, found = [], []
    whole = seed % 2 == 0  # whole numbers cause ties of overlaps
    number = (lambda lo, hi: float(r.randint(lo, hi))) if whole else (lambda lo, hi: r.uniform(lo, hi))
    for i in images:
        for _ in range(r.choice([0, 1, 3, 8])):
            side = r.choice([12, 60, 300])
            box = [number(0, 300), number(0, 300), number(1, side), number(1, side)]
            if whole and r.random() < .3 and truth:
                box = list(truth[-1]["bbox"])
            crowd = int(r.random() < .15)
            area = box[2] * box[3] * r.choice([1, 1, .6])
            truth.append({"id": len(truth) + 1, "image_id": i, "category_id": r.choice(categories), "bbox": box,
                          "area": area, "iscrowd": crowd})
    for t in truth + [None] * r.randint(0, 30):
        for _ in range(r.choice([0, 1, 1, 2])):
            box, category, i = [number(0, 300), number(0, 300), number(1, 99), number(1, 99)], r.choice(categories), r.choice(images)
            if t:
                jitter = r.choice([0, 1, 4, 20])
                box = [max(0.0, v + number(-jitter, jitter)) for v in t["bbox"]]
                box[2:] = [max(1.0, v) for v in box[2:]]
                i, category = t["image_id"], t["category_id"] if r.random() < .9 else category
            found.append({"image_id": i, "category_id": category, "bbox": box, "score": round(r.random(), r.choice([1, 4]))})
    r.shuffle(found)
    if seed == 6:  # more than 100 detections in a picture
        found += [dict(found[0], score=round(r.random(), 3), bbox=[number(0, 300), number(0, 300), 40.0, 40.0])
                  for _ in range(130)]
    stats, classes = coco(images, categories, truth, found)
    return {"images": images, "categories": categories, "truth": truth, "found": found, "coco": stats,
            "classes": classes, "voc": [voc(images, c, truth, found) for c in categories]}


print("[" + ",\n".join(json.dumps(case(seed)) for seed in range(24)) + "]")
