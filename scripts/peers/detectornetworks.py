"""Detectors in the designs of their authors, with random weights, for detectors.py: export(NAME, FILE, SIDE,
PICTURE) writes one as ONNX and returns the form of its outputs. Batch norms have the statistics of two pictures, so that
predictions differ from cell to cell. NAME-nms ends in a suppression by torchvision.ops.batched_nms.
"""
import importlib.util
import os

import torch
import torch.nn as nn
import torchvision

CLASSES, STRIDES = 4, (8, 16, 32)


def zoo():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zoo.py")
    spec = importlib.util.spec_from_file_location("zoo", path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def cells(side):
    """Columns and rows [2,A], and sides [A], of the cells."""
    at, sides = [], []
    for s in STRIDES:
        n = side // s
        y, x = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
        at.append(torch.stack([x.flatten(), y.flatten()]))
        sides += [s] * (n * n)
    return torch.cat(at, 1).float(), torch.tensor(sides).float()


class Decoded(nn.Module):
    def __init__(self, net, side):
        super().__init__()
        self.net = net
        at, sides = cells(side)
        self.register_buffer("at", at)
        self.register_buffer("sides", sides)


class YOLOv8(Decoded):
    """Distributions of 16 distances for each side of a box (Ultralytics)."""

    def forward(self, x):
        y = self.net(x)
        bins = y[:, :64].reshape(y.shape[0], 4, 16, -1).softmax(2)
        far = (bins * torch.arange(16.0).reshape(1, 1, 16, 1)).sum(2)
        low, high = self.at + 0.5 - far[:, :2], self.at + 0.5 + far[:, 2:]
        box = torch.cat([(low + high) / 2, high - low], 1) * self.sides
        return torch.cat([box, (2 * y[:, 64:]).sigmoid()], 1)


class YOLOv5(Decoded):
    """Three anchors in each cell."""

    def forward(self, x):
        y = self.net(x)[:, :3 * (5 + CLASSES)]
        y = y.reshape(y.shape[0], 3, 5 + CLASSES, -1).permute(0, 1, 3, 2).sigmoid()
        anchors = torch.tensor([0.5, 1.0, 2.0]).reshape(1, 3, 1, 1)
        sides = self.sides.reshape(1, 1, -1, 1)
        xy = (y[..., :2] * 2 - 0.5 + self.at.t()) * sides
        wh = (y[..., 2:4] * 2) ** 2 * anchors * sides
        return torch.cat([xy, wh, y[..., 4:]], 3).flatten(1, 2)


class YOLOX(Decoded):
    decode = False

    def forward(self, x):
        y = self.net(x).permute(0, 2, 1) * 0.3  # boxes of the size of the picture at most
        box, rest = y[..., :4], y[..., 4:].sigmoid()
        if self.decode:
            sides = self.sides.reshape(1, -1, 1)
            box = torch.cat([(box[..., :2] + self.at.t()) * sides, box[..., 2:].exp() * sides], 2)
        return torch.cat([box, rest], 2)


class SSD(nn.Module):
    """Two maps with default boxes: corners as fractions, and probabilities with the background first."""

    def __init__(self, side):
        super().__init__()
        c = zoo().conv
        self.first = nn.Sequential(c(3, 16, 3, 2), c(16, 24, 3, 2), c(24, 32, 3, 2), c(32, 48, 3, 2))
        self.second = c(48, 64, 3, 2)
        self.heads = nn.ModuleList(nn.Conv2d(n, 4 + 1 + CLASSES, 3, padding=1) for n in (48, 64))
        boxes = []
        for s in 16, 32:
            n = side // s
            y, x = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
            boxes.append(torch.stack([(x.flatten() + 0.5) / n, (y.flatten() + 0.5) / n, torch.full((n * n,), 1.6 / n),
                                      torch.full((n * n,), 2.2 / n)], 1))
        self.register_buffer("defaults", torch.cat(boxes))

    def forward(self, x):
        a = self.first(x)
        y = torch.cat([h(m).flatten(2) for h, m in zip(self.heads, (a, self.second(a)))], 2).permute(0, 2, 1)
        d = self.defaults
        xy = y[..., :2] * 0.1 * d[:, 2:] + d[:, :2]
        wh = (y[..., 2:4] * 0.2).exp() * d[:, 2:]
        return torch.cat([xy - wh / 2, xy + wh / 2], 2), (2 * y[..., 4:]).softmax(2)


class Attention(nn.Module):
    """Attention of 4 heads, with the layer after it (DETR)."""

    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x, of):
        split = lambda t: t.reshape(t.shape[0], t.shape[1], 4, -1).transpose(1, 2)
        a = (split(self.q(x)) @ split(self.k(of)).transpose(2, 3) * (x.shape[2] // 4) ** -0.5).softmax(3)
        x = self.norm(x + self.out((a @ split(self.v(of))).transpose(1, 2).flatten(2)))
        return self.last(x + self.mlp(x))


class DETR(nn.Module):
    """20 queries: probabilities with the background last, and centres and sizes as fractions."""

    def __init__(self, side, top):
        super().__init__()
        c, width = zoo().conv, 32
        self.body = nn.Sequential(c(3, 16, 3, 2), c(16, 24, 3, 2), c(24, 32, 3, 2), c(32, width, 3, 2))
        self.position = nn.Parameter(torch.randn(1, (side // 16) ** 2, width))
        self.queries = nn.Parameter(torch.randn(1, 20, width))
        self.encoder, self.own, self.cross = Attention(width), Attention(width), Attention(width)
        self.classes, self.boxes, self.top = nn.Linear(width, CLASSES + 1), nn.Linear(width, 4), top

    def forward(self, x):
        m = self.body(x).flatten(2).transpose(1, 2) + self.position
        m = self.encoder(m, m)
        q = self.queries.expand(x.shape[0], -1, -1)
        q = self.cross(self.own(q, q), m)
        p, box = (3 * self.classes(q)).softmax(2), self.boxes(q).sigmoid()
        if not self.top:
            return p, box
        scores, at = p[..., :-1].flatten(1).topk(10, 1)  # DETR's PostProcess of later versions
        box = box.gather(1, (at // CLASSES).unsqueeze(2).expand(-1, -1, 4))
        box = torch.cat([box[..., :2] - box[..., 2:] / 2, box[..., :2] + box[..., 2:] / 2], 2) * x.shape[3]
        return box.squeeze(0), scores.squeeze(0), (at % CLASSES).squeeze(0)


class Suppressed(nn.Module):
    """Boxes above a score, without those that overlap a better one of their class."""

    def __init__(self, net, form, side):
        super().__init__()
        self.net, self.form, self.side, self.least = net, form, side, 0.25

    def scored(self, x):
        """Return all boxes with their scores and classes."""
        y = self.net(x)
        if self.form == "ssd":
            boxes, (scores, classes) = y[0][0] * self.side, y[1][0, :, 1:].max(1)
        else:
            y = y[0].t() if self.form == "yolov8" else y[0]
            first = 4 if self.form == "yolov8" else 5
            scores, classes = y[:, first:].max(1)
            if first == 5:
                scores = scores * y[:, 4]
            boxes = torch.cat([y[:, :2] - y[:, 2:4] / 2, y[:, :2] + y[:, 2:4] / 2], 1)
        return boxes, scores, classes

    def forward(self, x):
        boxes, scores, classes = self.scored(x)
        above = scores > self.least
        boxes, scores, classes = boxes[above], scores[above], classes[above]
        at = torchvision.ops.batched_nms(boxes, scores, classes, 0.45)
        return boxes[at], scores[at], classes[at]


class Listed(nn.Module):
    """A detector of torchvision for one picture."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        y = self.net(list(x) if x.dim() == 4 else [x])[0]
        return y["boxes"], y["scores"], y["labels"]


def torchvisions(name, side):
    from torchvision.models.detection import FCOS, RetinaNet, backbone_utils, ssdlite320_mobilenet_v3_large
    if name.startswith("ssdlite"):
        return ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=CLASSES + 1, score_thresh=0.25)
    body = backbone_utils.resnet_fpn_backbone("resnet18", weights=None, trainable_layers=5)
    kind = FCOS if name.startswith("fcos") else RetinaNet
    return kind(body, num_classes=CLASSES + 1, min_size=side, max_size=side, score_thresh=0.25)


def spread(net, x):
    """Gives batch norms the statistics of a batch, and final biases of classes no effect."""
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.momentum = 1.0
        if isinstance(m, nn.Conv2d) and m.bias is not None and m.bias.mean() < -2:
            nn.init.zeros_(m.bias)
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.train()
    with torch.no_grad():
        net(x)
    for m in net.modules():  # a channel that hardly varies would only enlarge rounding
        if isinstance(m, nn.BatchNorm2d):
            m.running_var.clamp_(min=0.1 * float(m.running_var.mean()))
    return net.eval()


def export(name, path, side, picture, above=None):
    """Write a network as ONNX, and return the form of its outputs and a function for its first output in float64.

    With above, a network of form "nms" suppresses this number of boxes of a picture, those with the best scores.
    """
    torch.manual_seed(0)
    form, _, how = name.partition("-")
    kind = zoo()
    batch = lambda side: torch.stack([torch.tensor(picture(side, side, seed)).permute(2, 0, 1) / 255 for seed in (3, 4)])
    x = batch(side)
    if how == "torchvision":
        net, form, x = Listed(torchvisions(form, side)).eval(), "own", batch(320) if form == "ssdlite" else x
        names = ["boxes", "scores", "labels"]
    elif form in ("ssd", "detr"):
        net = SSD(side) if form == "ssd" else DETR(side, how == "topk")
        names = ["boxes", "scores"] if form == "ssd" else ["probabilities", "boxes"]
    else:
        net = {"yolov8": lambda: YOLOv8(kind.yolov8n(), side), "yolov5": lambda: YOLOv5(kind.yolov8n(), side),
               "yolox": lambda: YOLOX(kind.yolox_nano(), side)}[form]()
        net.decode = form == "yolox" and how != ""
        names = ["output"]
    spread(net.eval(), x)
    if how == "nms":
        net = Suppressed(net, form, side)
        if above:
            with torch.no_grad():
                net.least = float(net.scored(x[:1])[1].sort(descending=True).values[above])
    if how in ("nms", "topk"):
        form, names = "own", ["boxes", "scores", "labels"]
    if form == "yolox" and how == "decoded":
        form = "yolox-decoded"
    x = x[0] if how == "torchvision" else x[:1]
    torch.onnx.export(net, (x,), path, opset_version=13, input_names=["x"], output_names=names)

    def exact(x):
        with torch.no_grad():
            return net.double()(torch.tensor(x).double()).numpy()
    return form, exact if len(names) == 1 else None
