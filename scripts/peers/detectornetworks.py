"""Detectors in the designs of their authors, with random weights, for detectors.py: export(NAME, FILE, SIDES,
PICTURE) writes one as ONNX and returns the form of its outputs. NAME is KIND[-END][@HEIGHTxWIDTH][:OPSET]; NAME-nms ends in a
suppression by torchvision.ops.batched_nms. YOLOX is that of models/testdata/torch_yolox.py.

Batch norms have the statistics of pictures, as those of trained networks, and a bias of 1. Without the bias a deep network of
random weights multiplies rounding: PyTorch's own float32 is then 0.03 pixels from its float64. The last layers of YOLOX are
scaled by its outputs for pictures, so that boxes are of the size of objects.
"""
import functools
import importlib.util
import os

import torch
import torch.nn as nn
import torchvision

CLASSES, STRIDES = 4, (8, 16, 32)


def module(*path):
    """Load a module of a path from the folder of this one."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), *path)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


def zoo():
    return module("zoo.py")


def cells(sides):
    """Columns and rows [2,A], and sides [A], of the cells."""
    at, strides = [], []
    for s in STRIDES:
        y, x = torch.meshgrid(torch.arange(sides[0] // s), torch.arange(sides[1] // s), indexing="ij")
        at.append(torch.stack([x.flatten(), y.flatten()]))
        strides += [s] * y.numel()
    return torch.cat(at, 1).float(), torch.tensor(strides).float()


class Decoded(nn.Module):
    def __init__(self, net, sides):
        super().__init__()
        self.net = net
        at, sides = cells(sides)
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
    decode = ""

    def forward(self, x):
        y = self.net(255 * x).permute(0, 2, 1)
        box, rest, sides = y[..., :4], y[..., 4:].sigmoid(), self.sides.reshape(1, -1, 1)
        if self.decode == "inplace":  # YOLOX before 0.3, which exports ScatterND
            y = torch.cat([box, rest], 2)
            y[..., :2] = (y[..., :2] + self.at.t()) * sides
            y[..., 2:4] = torch.exp(y[..., 2:4]) * sides
            return y
        if self.decode:
            box = torch.cat([(box[..., :2] + self.at.t()) * sides, box[..., 2:].exp() * sides], 2)
        return torch.cat([box, rest], 2)


class SSD(nn.Module):
    """Two maps with default boxes: corners as fractions, and probabilities with the background first."""

    def __init__(self, sides):
        super().__init__()
        c = zoo().conv
        self.first = nn.Sequential(c(3, 16, 3, 2), c(16, 24, 3, 2), c(24, 32, 3, 2), c(32, 48, 3, 2))
        self.second = c(48, 64, 3, 2)
        self.heads = nn.ModuleList(nn.Conv2d(n, 4 + 1 + CLASSES, 3, padding=1) for n in (48, 64))
        boxes = []
        for s in 16, 32:
            h, w = sides[0] // s, sides[1] // s
            y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
            boxes.append(torch.stack([(x.flatten() + 0.5) / w, (y.flatten() + 0.5) / h, torch.full((h * w,), 1.6 / w),
                                      torch.full((h * w,), 2.2 / h)], 1))
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

    def __init__(self, sides, top):
        super().__init__()
        c, width = zoo().conv, 32
        self.body = nn.Sequential(c(3, 16, 3, 2), c(16, 24, 3, 2), c(24, 32, 3, 2), c(32, width, 3, 2))
        self.position = nn.Parameter(torch.randn(1, sides[0] // 16 * (sides[1] // 16), width))
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
        box = torch.cat([box[..., :2] - box[..., 2:] / 2, box[..., :2] + box[..., 2:] / 2], 2)
        box = box * torch.tensor([x.shape[3], x.shape[2]] * 2)
        return box.squeeze(0), scores.squeeze(0), (at % CLASSES).squeeze(0)


class Suppressed(nn.Module):
    """Boxes above a score, without those that overlap a better one of their class."""

    def __init__(self, net, form, sides):
        super().__init__()
        self.net, self.form, self.least = net, form, 0.25
        self.register_buffer("sides", torch.tensor([sides[1], sides[0]] * 2).float())

    def scored(self, x):
        """Return all boxes with their scores and classes."""
        y = self.net(x)
        if self.form == "ssd":
            boxes, (scores, classes) = y[0][0] * self.sides, y[1][0, :, 1:].max(1)
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


def torchvisions(name, sides):
    from torchvision.models import detection
    from torchvision.models.detection import retinanet
    least = {"weights": None, "weights_backbone": None, "num_classes": CLASSES + 1, "score_thresh": 0.25}
    if name == "ssdlite":
        return detection.ssdlite320_mobilenet_v3_large(**least)
    if name == "ssd300":
        return detection.ssd300_vgg16(**least)
    more, make = {"min_size": min(sides), "max_size": max(sides)}, detection.FCOS if name == "fcos" else detection.RetinaNet
    body = functools.partial(detection.backbone_utils.resnet_fpn_backbone, "resnet18", weights=None, trainable_layers=5)
    if name != "retinanet_v2":
        return make(body(), num_classes=CLASSES + 1, score_thresh=0.25, **more)
    from torchvision.ops.feature_pyramid_network import LastLevelP6P7
    body = body(returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(512, 256))
    anchors = retinanet._default_anchorgen()
    head = retinanet.RetinaNetHead(256, anchors.num_anchors_per_location()[0], CLASSES + 1,
                                   norm_layer=functools.partial(nn.GroupNorm, 32))
    return make(body, num_classes=CLASSES + 1, score_thresh=0.25, anchor_generator=anchors, head=head, **more)


def settle(net, batches, bias=1.0):
    """Gives batch norms the statistics of batches, and final biases of classes no effect."""
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    for m in net.modules():
        if isinstance(m, nn.Conv2d) and m.bias is not None and m.bias.mean() < -2:
            nn.init.zeros_(m.bias)
    for m in norms:
        m.momentum = None  # the mean over the batches
        nn.init.constant_(m.bias, bias)
        m.reset_running_stats()
        m.train()
    with torch.no_grad():
        for x in batches:
            net(x)
    for m in norms:  # a channel that hardly varies would only enlarge rounding
        m.running_var.clamp_(min=0.1 * float(m.running_var.mean()))
    return net.eval()


def scale_heads(net, x):
    """Scales YOLOX's last layers by their outputs for x: offsets of half a cell, sides of two, logits of 1.5."""
    h, seen = net.head, {}
    last = [(p, 0.5, [0, 0, 0.7, 0.7]) for p in h.reg_preds] + [(p, 1.5, 0) for p in (*h.obj_preds, *h.cls_preds)]
    hooks = [p.register_forward_hook(lambda p, _, y: seen.update({p: y - p.bias.reshape(1, -1, 1, 1)})) for p, _, _ in last]
    with torch.no_grad():
        net(x)
        for p, deviation, mean in last:
            by = deviation / (seen[p].std((0, 2, 3)) + 1e-6)
            p.weight *= by.reshape(-1, 1, 1, 1)
            p.bias.copy_(torch.tensor(mean) - by * seen[p].mean((0, 2, 3)))
    for hook in hooks:
        hook.remove()


def export(name, path, sides, picture, above=None):
    """Write a network as ONNX, and return the form of its outputs and a function for its first output in float64.

    sides are one number or height and width, if the name has none. With above, a network of form "nms" suppresses
    this number of boxes of a picture, those with the best scores.
    """
    torch.manual_seed(0)
    name, _, opset = name.partition(":")
    name, _, given = name.partition("@")
    sides = tuple(map(int, given.split("x"))) if given else (sides, sides) if isinstance(sides, int) else sides
    form, _, how = name.partition("-")
    kind, bias = zoo(), 1.0
    batch = lambda seeds: torch.stack([torch.tensor(picture(*sides, seed)).permute(2, 0, 1) / 255 for seed in seeds])
    if how == "torchvision":
        sides = {"ssdlite": (320, 320), "ssd300": (300, 300)}.get(form, sides)
        net, form, bias = Listed(torchvisions(form, sides)).eval(), "own", 0.0
        names = ["boxes", "scores", "labels"]
    elif form in ("ssd", "detr"):
        net = SSD(sides) if form == "ssd" else DETR(sides, how == "topk")
        names = ["boxes", "scores"] if form == "ssd" else ["probabilities", "boxes"]
    elif form.startswith("yolox"):
        depth, width, depthwise = {"yolox": (0.33, 0.25, True), "yolox_tiny": (0.33, 0.375, False),
                                   "yolox_s": (0.33, 0.5, False)}[form]
        net = YOLOX(module("..", "..", "models", "testdata", "torch_yolox.py").YOLOX(80, depth, width, depthwise), sides)
        net.decode, form, names = how, "yolox", ["output"]
    else:
        net = {"yolov8": YOLOv8, "yolov5": YOLOv5}[form](kind.yolov8n(), sides)
        names = ["output"]
    settle(net.eval(), [batch(range(3, 7)), batch(range(7, 11))], bias)
    if form == "yolox":
        scale_heads(net.net, 255 * batch(range(3, 7)))
    x = batch([3])
    if how == "nms":
        net = Suppressed(net, form, sides)
        if above:
            with torch.no_grad():
                net.least = float(net.scored(x)[1].sort(descending=True).values[above])
    if how in ("nms", "topk"):
        form, names = "own", ["boxes", "scores", "labels"]
    if form == "yolox" and how:
        form = "yolox-decoded"
    x = x[0] if how == "torchvision" else x
    torch.onnx.export(net, (x,), path, opset_version=int(opset or 13), input_names=["x"], output_names=names)

    def exact(x):
        with torch.no_grad():
            return net.double()(torch.tensor(x).double()).numpy()
    return form, exact if len(names) == 1 else None
