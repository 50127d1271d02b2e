"""own.py export FILE.onnx: a network of a user's own, with batch norm kept, as docs/own-model.md has it.
own.py pictures FILE.npy: four pictures of noise.
own.py compare FILE.pt PICTURES.npy LOGITS.npy: loads the weights back by strict names, and compares answers with
bnctl's."""
import sys

import numpy
import torch
from torch import nn


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.SiLU())
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))


net, (what, *files) = Own().eval(), sys.argv[1:]
if what == "export":
    torch.onnx.export(net, torch.zeros(1, 1, 28, 28), files[0], training=torch.onnx.TrainingMode.PRESERVE,
                      do_constant_folding=False, input_names=["image"], output_names=["logits"],
                      dynamic_axes={"image": {0: "n"}, "logits": {0: "n"}}, opset_version=13)
elif what == "pictures":
    numpy.save(files[0], numpy.random.RandomState(0).randint(0, 256, (4, 28, 28, 1)).astype("u1"))
else:
    net.load_state_dict(torch.load(files[0]), strict=True)
    x = torch.tensor(numpy.load(files[1])).permute(0, 3, 1, 2) / 255
    far = (net(x) - torch.tensor(numpy.load(files[2]))).abs().max().item()
    print(f"strict=True, {len(net.state_dict())} tensors; largest difference of {len(x)} answers {far:.1e}")
    sys.exit(far > 1e-5)
