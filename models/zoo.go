package models

var (
	glyph    = Size{28, 28, 1}
	cifar    = Size{32, 32, 3}
	imageNet = Size{224, 224, 3}
	scenes   = Size{64, 64, 3}
	photos   = Size{256, 256, 3}
)

// zoo lists the architectures. State tensors are called as in the PyTorch
// checkpoints of each, so that these load and export without renaming:
// torchvision's for the ImageNet models, those of the published CIFAR ResNets.
var zoo = []Architecture{
	greyNet("mlp-bn", "two hidden layers with batch norm over features", 0.1, mlpBN),
	greyNet("lenet-bn", "two convolutions with batch norm, two dense layers", 0.05, lenetBN),
	cifarNet("resnet20", "CIFAR ResNet, 20 layers (He et al. 2015)", cifarResNet(3)),
	cifarNet("resnet32", "CIFAR ResNet, 32 layers (He et al. 2015)", cifarResNet(5)),
	cifarNet("resnet44", "CIFAR ResNet, 44 layers (He et al. 2015)", cifarResNet(7)),
	cifarNet("resnet56", "CIFAR ResNet, 56 layers (He et al. 2015)", cifarResNet(9)),
	cifarNet("resnet110", "CIFAR ResNet, 110 layers (He et al. 2015)", cifarResNet(18)),
	imageNetNet("resnet18", "ResNet, 18 layers (He et al. 2015)", 0.05, resNet(basicBlock, 2, 2, 2, 2)),
	imageNetNet("resnet34", "ResNet, 34 layers (He et al. 2015)", 0.05, resNet(basicBlock, 3, 4, 6, 3)),
	imageNetNet("resnet50", "ResNet, 50 layers (He et al. 2015)", 0.05, resNet(bottleneck, 3, 4, 6, 3)),
	imageNetNet("resnet101", "ResNet, 101 layers (He et al. 2015)", 0.05, resNet(bottleneck, 3, 4, 23, 3)),
	imageNetNet("resnet152", "ResNet, 152 layers (He et al. 2015)", 0.05, resNet(bottleneck, 3, 8, 36, 3)),
	imageNetNet("resnet50-v1", "ResNet, 50 layers (He et al. 2015), stride in the 1x1 as in Caffe2", 0.05,
		resNet(bottleneckV1, 3, 4, 6, 3)).sameAs("resnet50"),
	imageNetNet("resnet101-v1", "ResNet, 101 layers (He et al. 2015), stride in the 1x1 as in Caffe2", 0.05,
		resNet(bottleneckV1, 3, 4, 23, 3)).sameAs("resnet101"),
	imageNetNet("resnet152-v1", "ResNet, 152 layers (He et al. 2015), stride in the 1x1 as in Caffe2", 0.05,
		resNet(bottleneckV1, 3, 8, 36, 3)).sameAs("resnet152"),
	imageNetNet("mobilenetv2", "inverted residuals (Sandler et al. 2018)", 0.05, mobileNetV2),
	{Name: "unet-bn", About: "a class for each pixel (Ronneberger et al. 2015), 4 levels, 16 channels",
		Input: scenes, Classes: 6, LR: 0.05, Mean: ImageNetMean, Std: ImageNetStd, Pixels: true, forward: unetBN},
	pixelNet("fcn-resnet50", "a class for each pixel (Long et al. 2015) on a dilated ResNet-50",
		onResNet50(fcnHead)).withAuxiliary(),
	pixelNet("deeplabv3-resnet50", "a class for each pixel (Chen et al. 2017) on a dilated ResNet-50",
		onResNet50(deepLabHead)).withAuxiliary(),
	pixelNet("lraspp-mobilenetv3-large", "a class for each pixel on MobileNetV3 (Howard et al. 2019)", lraspp),
	pixelNet("espnet-c", "a class for each pixel by dilated pyramids (Mehta et al. 2018)", espNetC),
	imageNetNet("vgg16-bn", "VGG configuration D with batch norm (Simonyan and Zisserman 2014)", 0.01, vgg16BN),
}

func greyNet(name, about string, lr float64, f forward) Architecture {
	return Architecture{Name: name, About: about, Input: glyph, Classes: 10, LR: lr,
		Mean: mnistMean, Std: mnistStd, forward: f}
}

func cifarNet(name, about string, f forward) Architecture {
	return Architecture{Name: name, About: about, Input: cifar, Classes: 10, LR: 0.1,
		Mean: ImageNetMean, Std: ImageNetStd, forward: f}
}

func imageNetNet(name, about string, lr float64, f forward) Architecture {
	return Architecture{Name: name, About: about, Input: imageNet, Classes: 1000, LR: lr,
		Mean: ImageNetMean, Std: ImageNetStd, forward: f}
}

func pixelNet(name, about string, f forward) Architecture {
	return Architecture{Name: name, About: about, Input: photos, Classes: 21, LR: 0.05,
		Mean: ImageNetMean, Std: ImageNetStd, Pixels: true, forward: f}
}

func (a Architecture) sameAs(name string) Architecture {
	a.SameAs = name
	return a
}

func (a Architecture) withAuxiliary() Architecture {
	a.auxiliary = true
	return a
}
