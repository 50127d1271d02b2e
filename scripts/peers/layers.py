"""layers.py: what a network computes, a line for each layer, for onednn.c and onednn_train.c.

A line is KIND SOURCE SUM RELU, then numbers: conv IC IH IW OC OH OW KERNEL STRIDE PAD GROUPS,
max IC IH IW OH OW KERNEL STRIDE PAD, mean IC IH IW, dense IC OC. SOURCE and SUM are lines,
from 0; -1 is the network's input, and no addition. Batch norms have no line. RELU is -1 without one, else
its upper bound, 0 for none. Slices and padding of resnet20's shortcuts are left out, as if they took no time.
"""
import operator

import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn import functional as F


class Layers:
    def __init__(self, network, shape):
        self.graph = fx.symbolic_trace(network)
        ShapeProp(self.graph).propagate(torch.zeros(1, *shape))
        self.modules = dict(self.graph.named_modules())
        self.lines, self.of = [], {}  # of: the line that holds a node's value
        for node in self.graph.graph.nodes:
            self.visit(node)

    def visit(self, node):
        module = self.modules.get(node.target) if node.op == "call_module" else None
        what = type(module) if module else node.target
        inputs = [n for n in node.all_input_nodes]
        if node.op in ("placeholder", "output"):
            self.of[node] = -1
        elif what is nn.Conv2d:
            self.add(node, "conv", *shape(inputs[0]), *shape(node), module.kernel_size[0], module.stride[0],
                     module.padding[0], module.groups)
        elif what is nn.MaxPool2d:
            self.add(node, "max", *shape(inputs[0]), *shape(node)[1:], module.kernel_size, module.stride, module.padding)
        elif what is F.max_pool2d:
            self.add(node, "max", *shape(inputs[0]), *shape(node)[1:], node.args[1], node.args[1], 0)
        elif what in (nn.AdaptiveAvgPool2d, F.adaptive_avg_pool2d) and shape(node) != shape(inputs[0]):
            self.add(node, "mean", *shape(inputs[0]))
        elif what is nn.Linear:
            self.add(node, "dense", module.in_features, module.out_features)
        elif what in (operator.add, operator.iadd):
            self.join(node, *(self.of[n] for n in inputs))
        else:
            self.of[node] = self.of[inputs[0]]
            if what in (nn.ReLU, F.relu):
                self.lines[self.of[node]][3] = 0
            elif what is nn.ReLU6:
                self.lines[self.of[node]][3] = 6

    def add(self, node, kind, *numbers):
        self.of[node] = len(self.lines)
        self.lines.append([kind, self.of[node.all_input_nodes[0]], -1, -1, *numbers])

    def join(self, node, a, b):
        """Adds in the store of what is computed last."""
        last = max(a, b)
        self.lines[last][2] = min(a, b)
        self.of[node] = last


def shape(node):
    return tuple(node.meta["tensor_meta"].shape)[1:]


def write(network, shape, path):
    with open(path, "w") as f:
        for line in Layers(network, shape).lines:
            print(*line, file=f)
