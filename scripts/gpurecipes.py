#!/usr/bin/env python3
"""gpurecipes.py: prints the trainings of gpu.sh and the sums that docs/results has of them.

A line has the group (zoo, mixed or int8), the first digits of the sum, and the recipe, with tabs between.
"""
import json
import os
import re

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "results")
MIXED = [  # trained on a GPU and the CPU at once: README's recipe and five more
    ("sums", "--data glyphs --val glyphs --epochs 2"),
    ("sums", "--model lenet-bn --data glyphs:512"),
    ("sums", "--model unet-bn --data shapes:64"),
    ("sums-feed", "--data csv:labels.csv"),
    ("sums-activations", "activations.graph"),
    ("sums-attention", "norms.graph"),
]


def rows(name):
    with open(os.path.join(RESULTS, name + ".json")) as f:
        return json.load(f)["rows"]


def show(group, row):
    recipe = re.sub(r" --devices \S+", "", row[0].strip("`"))
    print(group, row[-1], re.sub(r"\S+/(\w+\.graph)", r"\1", recipe), sep="\t")


for row in rows("sums-zoo-64"):
    show("zoo", row)
for name, part in MIXED:
    show("mixed", next(row for row in rows(name) if part in row[0]))
show("int8", ["--model int8.graph", rows("sums-int8")[0][-1]])
