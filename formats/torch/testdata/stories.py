"""Makes stories/ with PyTorch 1.13: the files that the authors of public
issues had, with a small network. Run here: python3 stories.py

It prints what PyTorch answers for stories/input.npy; the scripts in
cmd/bnctl/testdata/script that are called after the issues expect that.
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

    # pytorch#41081: a model that was converted to SyncBatchNorm, which no CPU runs, saved whole.
    net, _ = trained(1)
    answers("41081", net, x)
    save("41081_sync.pt", torch.nn.SyncBatchNorm.convert_sync_batchnorm(net))

    # fvcore#152: the ranks end with statistics of their own, beside the same weights.
    sd = trained(1)[0].state_dict()
    for rank, (mean, var) in enumerate([([1.0, -1.0, 0.0, 2.0], [2.0, 1.0, 1.0, 3.0]),
                                        ([3.0, 1.0, 0.0, 2.0], [4.0, 1.0, 3.0, 3.0])]):
        sd["bn1.running_mean"], sd["bn1.running_var"] = torch.tensor(mean), torch.tensor(var)
        save(f"152_rank{rank}.pth", {"model": sd, "iteration": 0})

    # layumi/Person_reID_baseline_pytorch#218: better without eval(), since the running statistics lag behind.
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


if __name__ == "__main__":
    main()
