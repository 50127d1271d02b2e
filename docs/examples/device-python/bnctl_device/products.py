"""Convolutions and dense layers."""
import numpy as np

from . import device_pb2 as pb
from .operations import operation


class Window:
    """The windows of a convolution over one image (C, H, W)."""

    def __init__(self, n, size, kernel):
        self.sh, self.sw = n.attr["stride"]
        self.top, self.left, self.bottom, self.right = n.attr["pad"]
        self.dh, self.dw = n.attr["dilation"]
        self.groups = n.attr["groups"]
        self.h, self.w = size
        self.kh, self.kw = kernel

    def columns(self, x):
        """(groups, C/groups * kh * kw, H' * W')"""
        x = np.pad(x, ((0, 0), (self.top, self.bottom), (self.left, self.right)))
        span = (self.dh * (self.kh - 1) + 1, self.dw * (self.kw - 1) + 1)
        v = np.lib.stride_tricks.sliding_window_view(x, span, axis=(1, 2))
        v = v[:, ::self.sh, ::self.sw, ::self.dh, ::self.dw].transpose(0, 3, 4, 1, 2)
        return v.reshape(self.groups, -1, v.shape[3] * v.shape[4])

    def scatter(self, columns, out):
        """The transpose of columns: adds (C, kh, kw, H', W') up into an image."""
        c, oh, ow = columns.shape[0], out[0], out[1]
        x = np.zeros((c, self.h + self.top + self.bottom, self.w + self.left + self.right))
        for i in range(self.kh):
            for j in range(self.kw):
                top, left = i * self.dh, j * self.dw
                x[:, top:top + self.sh * oh:self.sh, left:left + self.sw * ow:self.sw] += columns[:, i, j]
        return x[:, self.top:self.top + self.h, self.left:self.left + self.w]


@operation(pb.OP_CONV, "stride", "pad", "dilation", "groups")
def conv(frame, n):
    x, w, bias = n.get(0), n.get(1), n.get(2)
    window = Window(n, x.shape[2:], w.shape[2:])
    flat = w.reshape(window.groups, w.shape[0] // window.groups, -1)
    y = np.empty(n.out_shape())
    for i, image in enumerate(x):
        y[i] = (flat @ window.columns(image)).reshape(y.shape[1:])
    return y if bias is None else y + bias[:, None, None]


@operation(pb.OP_CONV_GRAD_INPUT, "stride", "pad", "dilation", "groups", "size")
def conv_grad_input(frame, n):
    dy, w = n.get(0), n.get(1)
    window = Window(n, n.attr["size"], w.shape[2:])
    flat = w.reshape(window.groups, w.shape[0] // window.groups, -1).transpose(0, 2, 1)
    out = n.out_shape()
    dx = np.empty(out)
    for i, g in enumerate(dy):
        columns = flat @ g.reshape(window.groups, g.shape[0] // window.groups, -1)
        dx[i] = window.scatter(columns.reshape((out[1],) + w.shape[2:] + g.shape[1:]), g.shape[1:])
    return dx


@operation(pb.OP_CONV_GRAD_WEIGHT, "stride", "pad", "dilation", "groups", "kernel")
def conv_grad_weight(frame, n):
    x, dy = n.get(0), n.get(1)
    window = Window(n, x.shape[2:], n.attr["kernel"])
    dw = np.zeros(n.out_shape())
    for r, images, gradients in n.replicas(x, dy):
        for image, g in zip(images, gradients):
            g = g.reshape(window.groups, g.shape[0] // window.groups, -1)
            dw[r] += (g @ window.columns(image).transpose(0, 2, 1)).reshape(dw.shape[1:])
    return dw


@operation(pb.OP_DENSE)
def dense(frame, n):
    x, w, bias = n.get(0), n.get(1), n.get(2)
    y = np.empty(n.out_shape())
    for i, row in enumerate(x):
        y[i] = w @ row
    return y if bias is None else y + bias


@operation(pb.OP_DENSE_GRAD_INPUT)
def dense_grad_input(frame, n):
    dy, w = n.get(0), n.get(1)
    dx = np.empty(n.out_shape())
    for i, g in enumerate(dy):
        dx[i] = g @ w
    return dx


@operation(pb.OP_DENSE_GRAD_WEIGHT)
def dense_grad_weight(frame, n):
    dw = np.zeros(n.out_shape())
    for r, x, dy in n.replicas(n.get(0), n.get(1)):
        dw[r] = dy.T @ x
    return dw
