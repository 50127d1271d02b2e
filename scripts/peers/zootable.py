"""zootable.py PAGE BNCTL [FILE...]: writes the table of the zoo in PAGE, docs/networks.md, anew.

Sizes and memory are bnctl's own (`models list`, `models show --batch 32`). The files have the lines that forwards.py,
steps.py and timm_names.py print, or are measurements of bench-peers: what they did not measure stays as PAGE has it.
"""
import json
import statistics
import subprocess
import sys

HEAD = ["network", "input", "parameters", "MFLOP", "memory of training at batch 32", "from PyTorch", "from ONNX Runtime",
        "from timm", "a step from float64: bnctl, PyTorch", "images/s, batch 1", "batch 8",
        "batch 8, beside PyTorch"]
ONNX, TORCH = "infer-zoo-all", "infer-zoo-pytorch"  # groups of bench-peers beside ONNX Runtime and PyTorch


def events(*arguments):
    out = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def short(value):
    return "" if value is None else f"{value:.0e}"


def size(value, digits):
    """Format a number with that many decimals, or a smaller one with one significant digit."""
    return f"{value:.{digits}f}" if value >= 10 ** -digits else f"{value:.1g}"


def step(row):
    if row is None:
        return ""
    return f"{row['update_off']:.0e}, {row['torch_f32_update_off']:.0e}" if "update_off" in row else "refused"


def speed(comparisons, group, name, batch):
    """Images per second of one thread, and how many times the best peer's that is."""
    for c in comparisons:
        if c["group"] == group and c["name"] == f"{name}, batch {batch}, 1 thread":
            ours = statistics.median(c["ours"])
            return f"{ours:.3g} ({ours / statistics.median(c['theirs']):.2f})"
    return ""


def read(path):
    """The lines of a file, and the comparisons of a measurement."""
    with open(path) as f:
        text = f.read()
    if path.endswith(".json") and text.startswith("{\n"):
        return [], json.loads(text)["comparisons"]
    return [json.loads(line) for line in text.splitlines()], []


def line(cells):
    return "| " + " | ".join(cells) + " |"


def main(page, bnctl, *files):
    rows, comparisons = [], []
    for lines, measured in map(read, files):
        rows, comparisons = rows + lines, comparisons + measured

    def of(name, key):
        return next((r for r in rows if r["network"] == name and key in r), None)

    with open(page) as f:
        text = f.read()
    before, table = text.split(line(HEAD) + "\n", 1)
    table, after = table.split("\n\n", 1)
    old = {cells[0]: cells for cells in ([c.strip() for c in row[1:-1].split("|")] for row in table.splitlines())}
    out = [line(HEAD), "|" + "---|" * len(HEAD)]
    for m in events(bnctl, "models", "list", "--json"):
        if m["event"] != "model":
            continue
        memory = events(bnctl, "models", "show", m["name"], "--batch", "32", "--json")[0]
        theirs, timm = of(m["name"], "strip_same"), of(m["name"], "timm")
        cells = [m["name"], m["input"], f"{m['parameters'] / 1e6:.2f} M", size(m["flops"] / 1e6, 0),
                 size((memory["state"] + memory["activations"]) / 1e9, 2) + " GB", short(theirs and theirs["difference"]),
                 short(theirs and theirs.get("from_onnxruntime")), short(timm and timm.get("difference")),
                 step(of(m["name"], "loss_off")), speed(comparisons, ONNX, m["name"], 1),
                 speed(comparisons, ONNX, m["name"], 8), speed(comparisons, TORCH, m["name"], 8)]
        out.append(line([new or had for new, had in zip(cells, old.get(m["name"], [""] * len(cells)))]))
    with open(page, "w") as f:
        f.write(before + "\n".join(out) + "\n\n" + after)


main(*sys.argv[1:])
