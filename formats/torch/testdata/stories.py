"""Makes stories/ with PyTorch 1.13: the files of public issues, with a
small network in place of the original one. Run here: python3 stories.py

It prints PyTorch's outputs for stories/input.npy. The scripts in cmd/bnctl/testdata/script that are named
after the issues expect these numbers.
"""
import collections, os
import numpy
import torch
from layouts import trained

OUT = "stories"


class Split(torch.nn.Module):
    """Features and a classifier, as AlexNet and VGG have them."""

    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
        self.classifier = torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def conv_module(inputs, outputs, kernel):
    """MMSegmentation's ConvModule with SyncBN, as in its config."""
    return torch.nn.Sequential(collections.OrderedDict(
        conv=torch.nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False),
        bn=torch.nn.SyncBatchNorm(outputs), activate=torch.nn.ReLU()))


class PSPHead(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_seg = torch.nn.Conv2d(4, 3, 1)
        self.psp_modules = torch.nn.ModuleList(
            [torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), conv_module(4, 2, 1))])
        self.bottleneck = conv_module(6, 4, 3)

    def forward(self, x):
        pooled = [torch.nn.functional.interpolate(m(x), x.shape[2:], mode="bilinear") for m in self.psp_modules]
        return self.conv_seg(self.bottleneck(torch.cat([x] + pooled, 1)))


class PSPNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Module()
        self.backbone.conv1 = torch.nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.backbone.bn1 = torch.nn.SyncBatchNorm(4)
        self.decode_head = PSPHead()
        self.auxiliary_head = torch.nn.Module()
        self.auxiliary_head.conv_seg = torch.nn.Conv2d(4, 3, 1)
        self.auxiliary_head.convs = torch.nn.Sequential(conv_module(4, 4, 3))

    def forward(self, x):
        return self.decode_head(self.backbone.bn1(self.backbone.conv1(x)).relu())


def without_sync(net):
    """Replace SyncBN by BN, as the answer in mmsegmentation#387 does in the config."""
    for name, child in net.named_children():
        if isinstance(child, torch.nn.SyncBatchNorm):
            plain = torch.nn.BatchNorm2d(child.num_features)
            plain.load_state_dict(child.state_dict())
            setattr(net, name, plain)
        without_sync(child)
    return net


def save(name, value):
    torch.save(value, os.path.join(OUT, name))


def answers(what, net, x):
    net.eval()
    with torch.no_grad():
        print(what, [[round(v, 4) for v in row] for row in net(x).tolist()])


def main():
    os.makedirs(OUT, exist_ok=True)
    pixels = numpy.random.RandomState(0).randint(0, 256, (2, 6, 6, 3)).astype("uint8")
    numpy.save(os.path.join(OUT, "input.npy"), pixels)
    x = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255

    # pytorch#3805: the ImageNet example wraps only the features of AlexNet and VGG, and all of other networks.
    torch.manual_seed(5)
    net = Split()
    net(torch.randn(16, 3, 6, 6))
    save("3805_plain.pth", net.state_dict())
    save("3805_whole.pth.tar", {"epoch": 1, "state_dict": torch.nn.DataParallel(net).state_dict(),
                                "best_prec1": torch.tensor(10.0)})
    answers("3805", net, x)
    net.features = torch.nn.DataParallel(net.features)
    save("3805_middle.pth.tar", {"epoch": 1, "arch": "alexnet", "state_dict": net.state_dict(),
                                 "best_prec1": torch.tensor(10.0)})

    # pytorch#41081: a whole model, converted to SyncBatchNorm, which does not run on a CPU.
    net, _ = trained(1)
    answers("41081", net, x)
    save("41081_sync.pt", torch.nn.SyncBatchNorm.convert_sync_batchnorm(net))

    # fvcore#152: the ranks end with the same weights and different statistics.
    sd = trained(1)[0].state_dict()
    for rank, (mean, var) in enumerate([([1.0, -1.0, 0.0, 2.0], [2.0, 1.0, 1.0, 3.0]),
                                        ([3.0, 1.0, 0.0, 2.0], [4.0, 1.0, 3.0, 3.0])]):
        sd["bn1.running_mean"], sd["bn1.running_var"] = torch.tensor(mean), torch.tensor(var)
        save(f"152_rank{rank}.pth", {"model": sd, "iteration": 0})

    # layumi/Person_reID_baseline_pytorch#218: results are better without eval(), because the running statistics lag behind.
    torch.manual_seed(3)
    features = 5 + torch.randn(120, 4)
    labels = features[:, :3].argmax(1)
    net = torch.nn.Sequential(collections.OrderedDict(
        fc1=torch.nn.Linear(4, 16), bn1=torch.nn.BatchNorm1d(16, momentum=0.001), relu1=torch.nn.ReLU(),
        fc2=torch.nn.Linear(16, 3)))
    opt = torch.optim.Adam(net.parameters(), 0.02)
    for _ in range(100):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(features), labels).backward()
        opt.step()
    numpy.save(os.path.join(OUT, "218_x.npy"), features.numpy())
    numpy.save(os.path.join(OUT, "218_y.npy"), labels.numpy().astype("int32"))
    accuracy = lambda: round(100 * (net(features).argmax(1) == labels).float().mean().item(), 2)
    save("218_net_last.pth", net.state_dict())
    print("218: eval mode", net.eval() and accuracy(), "training mode", net.train() and accuracy())
    torch.optim.swa_utils.update_bn([features], net)
    print("218: eval mode after update_bn", net.eval() and accuracy())

    # pytorch#1206: the running statistics became NaN in training, but the weights are finite.
    for v in (net.bn1.running_mean, net.bn1.running_var):
        v.fill_(float("nan"))
    save("1206_finetuned.pth", {"epoch": 9, "state_dict": net.state_dict()})
    print("1206: classes in eval mode", net.eval() and net(features).argmax(1).unique().tolist(),
          "accuracy in training mode", net.train() and accuracy())

    # mmsegmentation#387: a PSPNet with SyncBN, saved by MMCV, that should predict on a CPU.
    torch.manual_seed(4)
    net = PSPNet()
    for m in net.modules():
        if isinstance(m, torch.nn.SyncBatchNorm):
            torch.nn.init.uniform_(m.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(m.running_var, 0.5, 1.5)
    save("387_psp.pth", {"meta": {"mmcv_version": "1.2.7", "iter": 80000, "CLASSES": ("road", "car", "sky"),
                                  "config": "norm_cfg = dict(type='SyncBN', requires_grad=True)"},
                         "state_dict": net.state_dict()})
    try:
        net(x)
    except ValueError as e:
        print("387:", e)
    without_sync(net).eval()
    numpy.save(os.path.join(OUT, "387_logits.npy"), net(x).detach().numpy())


if __name__ == "__main__":
    main()
