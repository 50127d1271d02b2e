#!/usr/bin/python3
"""Assignments, losses and gradients of torchvision's detectors in float64, for outputs and objects that float32
represents exactly. Losses are divided by the number of slots with an object in both pictures, as in bnctl. Needs
Debian's python3-torchvision.

usage: torch_detection.py > torch_detection.json
"""
import json
from functools import partial

import torch
from torch import nn
from torchvision.models.detection import fcos, retinanet, ssd
from torchvision.models.detection.anchor_utils import AnchorGenerator, DefaultBoxGenerator
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import box_iou

torch.manual_seed(4)
HEIGHT, WIDTH, CLASSES = 32, 96, 3
SIDES = [(4, 12), (2, 6), (1, 3), (1, 2), (1, 1)]
SSD_SIDES = [(2, 6), (1, 3), (1, 2), (1, 1), (1, 1), (1, 1)]


def rounded(x):
    return (x * 1024).round().double() / 1024


def grid(generator, sides):
    images = ImageList(torch.zeros(1, 3, HEIGHT, WIDTH, dtype=torch.float64), [(HEIGHT, WIDTH)])
    return generator(images, [torch.zeros(1, 1, *s, dtype=torch.float64) for s in sides])[0]


def objects(count):
    """Returns objects of all sizes. Some have the same box, and some have their centre at a slot."""
    size = 6 + torch.rand(count, 2) ** 2 * 80
    centre = torch.rand(count, 2) * torch.tensor([WIDTH, HEIGHT])
    centre[0] = (centre[0] / 8).round() * 8
    corners = torch.cat([centre - size / 2, centre + size / 2], 1)
    corners[:, 0::2].clamp_(0, WIDTH)
    corners[:, 1::2].clamp_(0, HEIGHT)
    corners = rounded(corners)
    corners[-1] = corners[-2]
    return corners, torch.randint(0, CLASSES, (count,))


def of_fcos(outputs, boxes, classes):
    generator = AnchorGenerator(tuple((s,) for s in (8, 16, 32, 64, 128)), ((1.0,),) * 5)
    anchors = grid(generator, SIDES)

    class Backbone(nn.Module):
        out_channels = 32

    model = fcos.FCOS(Backbone(), CLASSES, anchor_generator=generator)
    matched = []
    head = model.head.compute_loss

    def keep(targets, out, anchors, matches):
        matched.extend(matches)
        return head(targets, out, anchors, matches)

    model.head.compute_loss = keep
    out = torch.stack(outputs).transpose(1, 2)
    losses = model.compute_loss([{"boxes": b, "labels": c} for b, c in zip(boxes, classes)],
                                {"bbox_regression": out[..., :4], "bbox_ctrness": out[..., 4:5],
                                 "cls_logits": out[..., 5:]}, [anchors] * len(outputs),
                                [h * w for h, w in SIDES])
    found = model.eval().postprocess_detections(
        {"cls_logits": [v for v in out[:, :, 5:].split([h * w for h, w in SIDES], 1)],
         "bbox_regression": [v for v in out[:, :, :4].split([h * w for h, w in SIDES], 1)],
         "bbox_ctrness": [v for v in out[:, :, 4:5].split([h * w for h, w in SIDES], 1)]},
        [list(anchors.split([h * w for h, w in SIDES]))] * len(outputs), [(HEIGHT, WIDTH)] * len(outputs))
    return sum(losses.values()), matched, [anchors] * len(outputs), found


def of_retinanet(loss, outputs, boxes, classes):
    generator = retinanet._default_anchorgen()
    anchors = grid(generator, SIDES)

    class Backbone(nn.Module):
        out_channels = 32

    model = retinanet.RetinaNet(Backbone(), CLASSES, anchor_generator=generator)
    model.head.regression_head._loss_type = loss
    out = torch.stack(outputs).transpose(1, 2)
    total, matched, n = 0, [], 0
    for o, b, c in zip(out, boxes, classes):  # matched in float32, as in training
        m = model.proposal_matcher(box_iou(b.float(), anchors.float()))
        losses = model.head.compute_loss([{"boxes": b, "labels": c}], {"bbox_regression": o[None, :, :4],
                                                                       "cls_logits": o[None, :, 4:]}, [anchors], [m])
        total = total + sum(losses.values()) * max(1, int((m >= 0).sum()))
        n += int((m >= 0).sum())
        matched.append(m)
    counts = [9 * h * w for h, w in SIDES]
    found = model.eval().postprocess_detections(
        {"cls_logits": list(out[:, :, 4:].split(counts, 1)), "bbox_regression": list(out[:, :, :4].split(counts, 1))},
        [list(anchors.split(counts))] * len(outputs), [(HEIGHT, WIDTH)] * len(outputs))
    return total / n, matched, [anchors] * len(outputs), found


def of_ssd(outputs, boxes, classes):
    """Build the network of ssdlite320_mobilenet_v3_large. Anchors and matches are float32, as in training."""
    generator = DefaultBoxGenerator([[2, 3] for _ in range(6)], min_ratio=0.2, max_ratio=0.95)
    anchors = grid(generator, SSD_SIDES).float()

    model = ssd.SSD(nn.Identity(), generator, (HEIGHT, WIDTH), CLASSES + 1, head=nn.Identity(), score_thresh=0.001,
                    nms_thresh=0.55, detections_per_img=300, topk_candidates=300)
    matched = [model.proposal_matcher(box_iou(b.float(), anchors)) for b in boxes]
    out = torch.stack(outputs).transpose(1, 2)
    losses = model.compute_loss([{"boxes": b, "labels": c + 1} for b, c in zip(boxes, classes)],
                                {"bbox_regression": out[..., :4], "cls_logits": out[..., 4:].contiguous()},
                                [anchors.double()] * len(outputs), matched)
    found = model.eval().postprocess_detections({"bbox_regression": out[..., :4], "cls_logits": out[..., 4:]},
                                                [anchors.double()] * len(outputs), [(HEIGHT, WIDTH)] * len(outputs))
    for f in found:
        f["labels"] = f["labels"] - 1
    return sum(losses.values()), matched, [anchors.double()] * len(outputs), found


def golden(form, fields, slots, compute):
    outputs, boxes, classes = [], [], []
    for n in range(2):
        out = torch.randn(fields + CLASSES, slots)
        if form == "fcos":
            out[:4] = out[:4].abs() * 2
        else:
            out[:4] = out[:4] * 0.3
        outputs.append(rounded(out).requires_grad_())
        b, c = objects(7 + 5 * n)
        boxes.append(b)
        classes.append(c)
    total, matched, anchors, found = compute(outputs, boxes, classes)
    gradients = torch.autograd.grad(total, outputs)
    return {"form": form, "height": HEIGHT, "width": WIDTH, "classes": CLASSES,
            "anchors": [float(f"{v:.9g}") for v in (anchors[0] if form == "ssd" else rounded(anchors[0])).flatten().tolist()],
            "outputs": [o.flatten().tolist() for o in outputs],
            "objects": [[x + [k] for x, k in zip(b.tolist(), c.tolist())] for b, c in zip(boxes, classes)],
            "assigned": [m.tolist() for m in matched], "positives": sum(int((m >= 0).sum()) for m in matched),
            "loss": total.item(), "gradients": [[float(f"{v:.9g}") for v in g.flatten().tolist()] for g in gradients],
            "found": [[[float(f"{v:.9g}") for v in b + [s]] + [k] for b, s, k in zip(f["boxes"].tolist(), f["scores"].tolist(),
                                                     f["labels"].tolist())] for f in found]}


def main():
    slots = sum(h * w for h, w in SIDES)
    print(json.dumps([golden("fcos", 5, slots, of_fcos),
                      golden("retinanet", 4, 9 * slots, partial(of_retinanet, "l1")),
                      golden("retinanet_v2", 4, 9 * slots, partial(of_retinanet, "giou")),
                      golden("ssd", 5, 6 * sum(h * w for h, w in SSD_SIDES), of_ssd)]))


if __name__ == "__main__":
    main()
