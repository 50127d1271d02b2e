#!/usr/bin/python3
"""Three training steps of resnet20 in PyTorch, in float64, from weights and
images that both sides compute: see number(). Needs Debian's python3-torch.

usage: resnet20_steps.py > resnet20_steps.txt
       resnet20_steps.py float32      how far PyTorch's own float32 is from that
       resnet20_steps.py margin N     smallest operand of a relu for N seeds, the best last

Every step is SGD with the learning rate 0.1, momentum 0.9 and the weight decay
1e-4 on kernels and matrices alone, over a batch of 6 images of 8x8 with
synchronised batch norm, which in one process is batch norm over the batch.

The images are small and SEED was chosen so that no operand of a relu lies so
close to 0 that rounding decides its sign: two correct programs would differ
there by far more than they round.

Lines: "loss STEP VALUE", the mean over the batch before the step; then for
every tensor of the state, as it is after the last step, "NAME RMS V0 ... V7"
with the root of the mean square and the elements i*count/8.
"""
import sys

import numpy as np
import torch
import torch.nn.functional as F

SEED = 246
BATCH, SIDE, STEPS, LR, MOMENTUM, DECAY = 6, 8, 3, 0.1, 0.9, 1e-4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
margins = []


def words(stream, count):
    """Element i of a stream: 32 bits of splitmix64 at ((10000*SEED + stream) << 32) + i."""
    z = (np.uint64((10000 * SEED + stream) << 32) + np.arange(count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


def number(stream, shape, centre, spread):
    """float32 numbers uniform in centre +- spread."""
    u = words(stream, int(np.prod(shape))).astype(np.float64) / 2**31 - 1
    return torch.tensor((centre + spread * u).astype(np.float32).reshape(shape))


def relu(x):
    margins.append(x.detach().abs().min().item())
    return F.relu(x)


class Block(torch.nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(width)
        self.conv2 = torch.nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(width)
        self.stride, self.new = stride, width - channels

    def forward(self, x):
        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))
        if self.new:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.new // 2, self.new - self.new // 2))
        return relu(x + y)


class ResNet20(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(16)
        channels = 16
        for stage, width in enumerate((16, 32, 64)):
            blocks = []
            for i in range(3):
                blocks.append(Block(channels, width, 2 if stage and not i else 1))
                channels = width
            setattr(self, f"layer{stage + 1}", torch.nn.Sequential(*blocks))
        self.linear = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(relu(self.bn1(self.conv1(x))))))
        return self.linear(x.mean((2, 3)))


def state(model):
    return [(k, v) for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")]


def start(model):
    """Tensor k of the state is stream k + 1."""
    for k, (name, v) in enumerate(state(model)):
        shape = tuple(v.shape)
        if name.endswith("running_mean"):
            centre, spread = 0.0, 0.0
        elif name.endswith("running_var"):
            centre, spread = 1.0, 0.0
        elif len(shape) == 1 and name.endswith("weight"):
            centre, spread = 1.0, 0.25
        elif len(shape) == 1:
            centre, spread = 0.0, 0.25
        else:
            centre, spread = 0.0, 2.0 / np.sqrt(np.prod(shape[1:]))
        v.copy_(number(k + 1, shape, centre, spread))


def batch(step, dtype):
    """Images u8 [6,8,8,3] are stream 1000 + step, labels stream 2000 + step."""
    x = (words(1000 + step, BATCH * SIDE * SIDE * 3) >> np.uint64(24)).astype(np.float64).reshape(BATCH, SIDE, SIDE, 3)
    x = ((x * (1 / 255) - np.array(MEAN)) / np.array(STD)).astype(np.float32)
    labels = (words(2000 + step, BATCH) % np.uint64(10)).astype(np.int64)
    return torch.tensor(x).permute(0, 3, 1, 2).to(dtype).contiguous(), torch.tensor(labels)


def train(dtype):
    torch.manual_seed(0)
    model = ResNet20().to(dtype)
    start(model)
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() == 1]
    sgd = torch.optim.SGD([{"params": decayed, "weight_decay": DECAY}, {"params": plain}], lr=LR, momentum=MOMENTUM)
    losses = []
    for step in range(STEPS):
        x, labels = batch(step, dtype)
        loss = F.cross_entropy(model(x), labels)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    return losses, state(model)


def rms(v):
    return v.double().square().mean().sqrt().item()


def search(seeds):
    global SEED
    best = 0
    for SEED in range(seeds):
        margins.clear()
        train(torch.float64)
        if min(margins) > best:
            best = min(margins)
            print(SEED, best, flush=True)


if sys.argv[1:2] == ["margin"]:
    search(int(sys.argv[2]))
    sys.exit()
losses, exact = train(torch.float64)
if sys.argv[1:] == ["float32"]:
    own, got = train(torch.float32)
    print("losses", max(abs(a - b) for a, b in zip(losses, own)))
    print("state", max(((a.double() - b.double()).abs().max().item() / rms(a), k) for (k, a), (_, b) in zip(exact, got)))
    sys.exit()
for step, loss in enumerate(losses):
    print("loss", step, f"{loss:.17g}")
for name, v in exact:
    flat = v.flatten()
    print(name, f"{rms(v):.9g}", *(f"{flat[i * flat.numel() // 8].item():.9g}" for i in range(8)))
