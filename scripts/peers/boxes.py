#!/usr/bin/env python3
"""Compares `bnctl data eval` with plain Python on random sets of boxes.

usage: boxes.py BNCTL [SETS]

The figures are computed here from the published descriptions, with loops and without numpy: COCO's detection
evaluation (cocodataset.org/#detection-eval: 101 recalls, ten overlaps, areas, 1, 10 and 100 detections, crowds),
VOC's AP of all points (2010) and of 11 recalls (2007), and the confusion matrix of Confuse in objects/average.
Sets have crowds, areas that differ from the boxes, equal scores, equal boxes, classes without objects, and
pictures with more than 100 detections. All figures must agree within 1e-9. The status is 1 otherwise.
"""
import json, os, random, subprocess, sys, tempfile

OVERLAPS = [0.5 + 0.05 * i for i in range(9)] + [0.95]
RECALLS = [0.01 * i for i in range(100)] + [1.0]
AREAS = [(0, 1e10), (0, 32 ** 2), (32 ** 2, 96 ** 2), (96 ** 2, 1e10)]


def overlap(d, g, crowd):
    w = min(d[0] + d[2], g[0] + g[2]) - max(d[0], g[0])
    h = min(d[1] + d[3], g[1] + g[3]) - max(d[1], g[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / (d[2] * d[3] if crowd else d[2] * d[3] + g[2] * g[3] - w * h)


def by_score(found):
    return sorted(found, key=lambda d: -d["score"])  # stable


def match(found, truth, area, least):
    """Returns (score, rank, hit, ignored) of each detection of a picture, and the number of objects."""
    ignored = [g["iscrowd"] == 1 or not area[0] <= g["area"] <= area[1] for g in truth]
    order = sorted(range(len(truth)), key=lambda i: ignored[i])
    used, rows = set(), []
    for rank, d in enumerate(by_score(found)[:100]):
        best, most = None, min(least, 1 - 1e-10)
        for i in order:
            if i in used and not truth[i]["iscrowd"]:
                continue
            if best is not None and not ignored[best] and ignored[i]:
                break
            v = overlap(d["bbox"], truth[i]["bbox"], truth[i]["iscrowd"])
            if v >= most:
                best, most = i, v
        if best is not None:
            used.add(best)
            rows.append((d["score"], rank, True, ignored[best]))
        else:
            size = d["bbox"][2] * d["bbox"][3]
            rows.append((d["score"], rank, False, not area[0] <= size <= area[1]))
    return rows, ignored.count(False)


def curve(rows, objects):
    """Returns the interpolated precision at RECALLS, and the last recall."""
    hits = misses = 0
    precision, recall = [], []
    for _, _, hit, ignored in sorted(rows, key=lambda r: -r[0]):
        hits += hit and not ignored
        misses += not hit and not ignored
        precision.append(hits / (hits + misses + 2.0 ** -52))
        recall.append(hits / objects)
    for i in range(len(precision) - 2, -1, -1):
        precision[i] = max(precision[i], precision[i + 1])
    at = [next((p for p, r in zip(precision, recall) if r >= wanted), 0.0) for wanted in RECALLS]
    return at, recall[-1] if recall else 0.0


def mean(values):
    return sum(values) / len(values) if values else -1.0


def coco(images, categories, truth, found):
    ap, ar = {}, {}
    for c in categories:
        pairs = [([d for d in found if (d["image_id"], d["category_id"]) == (i, c)],
                  [g for g in truth if (g["image_id"], g["category_id"]) == (i, c)]) for i in sorted(images)]
        for a, area in enumerate(AREAS):
            for t, least in enumerate(OVERLAPS):
                rows, objects = [], 0
                for d, g in pairs:
                    r, n = match(d, g, area, least)
                    rows, objects = rows + r, objects + n
                if objects:
                    for most in (1, 10, 100):
                        ap[c, a, t, most], ar[c, a, t, most] = curve([r for r in rows if r[1] < most], objects)

    def precision(area, overlaps=range(10), classes=categories):
        return mean([p for c in classes for t in overlaps for p in ap.get((c, area, t, 100), [])])

    def recall(area, most, classes=categories):
        return mean([ar[c, area, t, most] for c in classes for t in range(10) if (c, area, t, most) in ar])

    figures = {"ap": precision(0), "ap50": precision(0, [0]), "ap75": precision(0, [5]), "ap_small": precision(1),
               "ap_medium": precision(2), "ap_large": precision(3), "ar1": recall(0, 1), "ar10": recall(0, 10),
               "ar100": recall(0, 100), "ar_small": recall(1, 100), "ar_medium": recall(2, 100),
               "ar_large": recall(3, 100)}
    classes = [{"ap": precision(0, classes=[c]), "ap50": precision(0, [0], [c]), "ar100": recall(0, 100, [c])}
               for c in categories]
    return figures, classes


def voc(images, category, truth, found):
    """Returns AP50 of all points and of 11 recalls."""
    rows, objects = [], 0
    for i in sorted(images):
        mine = [g for g in truth if (g["image_id"], g["category_id"]) == (i, category)]
        objects += sum(not g["iscrowd"] for g in mine)
        used = set()
        for d in by_score([d for d in found if (d["image_id"], d["category_id"]) == (i, category)]):
            best, most = None, 0.0
            for k, g in enumerate(mine):
                v = overlap(d["bbox"], g["bbox"], False)
                if v > most:
                    best, most = k, v
            if most >= 0.5 and mine[best]["iscrowd"]:
                continue
            hit = most >= 0.5 and best not in used
            if hit:
                used.add(best)
            rows.append((d["score"], hit))
    if not objects:
        return -1.0, -1.0
    hits, points = 0, []
    for n, (_, hit) in enumerate(sorted(rows, key=lambda r: -r[0]), 1):
        hits += hit
        points.append((hits, hits / n))
    area = before = 0.0
    for k, (h, _) in enumerate(points):
        area += (h / objects - before) * max(p for _, p in points[k:])
        before = h / objects
    eleven = sum(max([p for h, p in points if 10 * h >= tenth * objects], default=0.0) for tenth in range(11)) / 11
    return area, eleven


def confusion(images, categories, truth, found, score, least):
    n = len(categories)
    counts = [[0] * (n + 1) for _ in range(n + 1)]
    for i in images:
        mine = [g for g in truth if g["image_id"] == i]
        all_found = by_score([d for d in found if d["image_id"] == i and d["score"] >= score])
        pairs, ignored = [], set()
        for k, d in enumerate(all_found):
            for m, g in enumerate(mine):
                v = overlap(d["bbox"], g["bbox"], g["iscrowd"])
                if v >= least and g["iscrowd"]:
                    ignored.add(k)
                elif v >= least:
                    pairs.append((-v, k, m))
        taken, seen = set(), set()
        for _, k, m in sorted(pairs):
            if k not in taken and m not in seen:
                taken.add(k), seen.add(m)
                counts[categories.index(mine[m]["category_id"])][categories.index(all_found[k]["category_id"])] += 1
        for m, g in enumerate(mine):
            if m not in seen and not g["iscrowd"]:
                counts[categories.index(g["category_id"])][n] += 1
        for k, d in enumerate(all_found):
            if k not in taken and k not in ignored:
                counts[n][categories.index(d["category_id"])] += 1
    return counts


def draw(r):
    """Returns a random set: ids of pictures and categories, objects and detections."""
    images = r.sample(range(1, 1000), r.randint(1, 6))
    categories = sorted(r.sample(range(1, 90), r.randint(1, 4)))
    truth, found = [], []
    for i in images:
        for _ in range(r.randint(0, 12)):
            w, h = (r.choice([r.randint(1, 40), r.randint(20, 110), r.randint(80, 300)]) for _ in "wh")
            box = [float(r.randint(0, 300)), float(r.randint(0, 300)), float(w), float(h)]
            truth.append({"id": len(truth) + 1, "image_id": i, "category_id": r.choice(categories), "bbox": box,
                          "area": w * h * r.choice([1, 1, 0.6]), "iscrowd": int(r.random() < 0.1)})
            for _ in range(r.choice([0, 1, 1, 2, 3])):
                moved = [b + r.choice([0, r.gauss(0, 0.1) * s]) for b, s in zip(box, (w, h, w, h))]
                category = truth[-1]["category_id"] if r.random() < 0.85 else r.choice(categories)
                found.append({"image_id": i, "category_id": category, "bbox": moved[:2] + [max(0.5, v) for v in moved[2:]],
                              "score": r.choice([round(r.random(), 1), r.random()])})
        for _ in range(r.choice([0, 2, 5]) if r.random() < 0.9 else 150):
            found.append({"image_id": i, "category_id": r.choice(categories), "score": round(r.random() * 0.6, 2),
                          "bbox": [float(r.randint(0, 400)), float(r.randint(0, 400)), r.randint(2, 150), r.randint(2, 150)]})
    r.shuffle(found)
    return images, categories, truth, found


def far(got, want, place, worst):
    if isinstance(want, dict):
        for key in want:
            far(got[key], want[key], f"{place}.{key}", worst)
    elif isinstance(want, list):
        if len(got) != len(want):
            sys.exit(f"{place}: {len(got)} values, want {len(want)}")
        for k, (g, w) in enumerate(zip(got, want)):
            far(g, w, f"{place}.{k}", worst)
    elif not abs(got - want) <= worst[0]:
        worst[0], worst[1] = abs(got - want), f"{place}: {got}, want {want}"


def main():
    bnctl, count, worst, done = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200, [0.0, ""], 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(10 * count):
            images, categories, truth, found = draw(random.Random(seed))
            if not truth:
                continue
            files = [os.path.join(folder, name) for name in ("truth.json", "found.json")]
            document = {"images": [{"id": i, "file_name": f"{i}.jpg", "width": 1000, "height": 1000} for i in images],
                        "categories": [{"id": c, "name": f"c{c}"} for c in categories], "annotations": truth}
            for name, value in zip(files, (document, found)):
                with open(name, "w") as f:
                    json.dump(value, f)
            run = subprocess.run([bnctl, "data", "eval", "coco:" + files[0], files[1], "--json"], capture_output=True)
            if run.returncode:
                sys.exit(f"set {seed}: {run.stderr.decode()}")
            got = json.loads(run.stdout.splitlines()[-1])
            figures, classes = coco(images, categories, truth, found)
            far(got["coco"], {**figures, "classes": classes}, f"set {seed}: coco", worst)
            far([[c["ap50"], c["ap50_11points"]] for c in got["voc"]["classes"]],
                [list(voc(images, c, truth, found)) for c in categories], f"set {seed}: voc", worst)
            c = got["confusion"]
            far(c["counts"], confusion(images, categories, truth, found, c["score"], c["overlap"]),
                f"set {seed}: confusion", worst)
            done += 1
            if done == count:
                break
    print(f"{done} sets; the largest difference is {worst[0]:.3g} {worst[1]}")
    sys.exit(worst[0] > 1e-9)


if __name__ == "__main__":
    main()
