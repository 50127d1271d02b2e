#!/usr/bin/env python3
"""Writes the facts of torchvision's weights for the networks of the zoo, and the names of ImageNet's classes,
into cmd/bnctl/internal/pretrained. Run it with the torchvision of a newer release to add weights:

    python3 scripts/pretrained.py cmd/bnctl/internal/pretrained

Sizes in MB are in the metadata of torchvision 0.15 and later; without them the column keeps its values."""
import gzip, os, sys
from torchvision.models import list_models, get_model_weights
from torchvision.models._meta import _IMAGENET_CATEGORIES

# zoo name: torchvision's name. Other names are equal but for - and _.
NAMES = {"mobilenetv2": "mobilenet_v2", "mobilenetv3-small": "mobilenet_v3_small",
         "mobilenetv3-large": "mobilenet_v3_large", "lraspp-mobilenetv3-large": "lraspp_mobilenet_v3_large",
         "resnet50-v1": "", "resnet101-v1": "", "resnet152-v1": ""}

def main(folder, zoo):
    table = os.path.join(folder, "torchvision.tsv")
    sizes = {}
    if os.path.exists(table):
        for line in open(table):
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 6: sizes[fields[3]] = fields[6]
    rows = []
    known = list_models()
    for name in zoo:
        other = NAMES.get(name, name.replace("-", "_"))
        if other not in known: continue
        for w in get_model_weights(other):
            if "SWAG" in w.name: continue  # it has another licence
            meta = w.meta
            metrics = meta["_metrics"].get("ImageNet-1K", {})
            pixels = meta["_metrics"].get("COCO-val2017-VOC-labels", {})
            kw = w.transforms.keywords
            size = meta.get("_file_size") or sizes.get(w.url.split("/")[-1], "")
            rows.append([name, other, w.name, w.url.split("/")[-1],
                "%g" % metrics["acc@1"] if metrics else "", "%g" % pixels["miou"] if pixels else "", str(size),
                str(kw.get("resize_size", 256)), str(kw.get("crop_size", 0)),
                str(getattr(kw.get("interpolation"), "value", "bilinear")), str(len(meta["categories"])),
                "*" if w == get_model_weights(other).DEFAULT else ""])
    with open(table, "w") as f:
        f.write("# network\ttorchvision\tweights\tfile\ttop1\tmiou\tmb\tresize\tcrop\tinterpolation\tclasses\tdefault\n")
        for row in rows: f.write("\t".join(row) + "\n")
    text = "\n".join(_IMAGENET_CATEGORIES) + "\n"
    with open(os.path.join(folder, "imagenet.txt.gz"), "wb") as f:
        with gzip.GzipFile("", "wb", 9, f, 0) as z: z.write(text.encode())

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
