package models

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
)

var (
	glyph    = Size{28, 28, 1}
	cifar    = Size{32, 32, 3}
	imageNet = Size{224, 224, 3}
	scenes   = Size{64, 64, 3}
	photos   = Size{256, 256, 3}
)

// zoo lists the architectures by families. State tensors have the names of each family's
// PyTorch checkpoints, so that these load and export without renaming: torchvision's names
// for the ImageNet models, and those of the published CIFAR ResNets.
var zoo = slices.Concat(
	family("small",
		greyNet("mlp-bn", "two hidden layers with batch norm over features", 0.1, mlpBN),
		greyNet("lenet-bn", "two convolutions with batch norm, two dense layers", 0.05, lenetBN)),
	family("cifar-resnet",
		cifarNet("resnet20", "CIFAR ResNet, 20 layers (He et al. 2015)", cifarResNet(3)),
		cifarNet("resnet32", "CIFAR ResNet, 32 layers (He et al. 2015)", cifarResNet(5)),
		cifarNet("resnet44", "CIFAR ResNet, 44 layers (He et al. 2015)", cifarResNet(7)),
		cifarNet("resnet56", "CIFAR ResNet, 56 layers (He et al. 2015)", cifarResNet(9)),
		cifarNet("resnet110", "CIFAR ResNet, 110 layers (He et al. 2015)", cifarResNet(18))),
	family("resnet",
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
		imageNetNet("resnext50-32x4d", "ResNeXt, 32 groups (Xie et al. 2017)", 0.05,
			resNet(bottlenecks(32, 4), 3, 4, 6, 3)),
		imageNetNet("resnext101-32x8d", "ResNeXt, 32 groups (Xie et al. 2017)", 0.05,
			resNet(bottlenecks(32, 8), 3, 4, 23, 3)),
		imageNetNet("wide-resnet50-2", "ResNet of double width (Zagoruyko and Komodakis 2016)", 0.05,
			resNet(bottlenecks(1, 128), 3, 4, 6, 3))),
	family("mobilenet",
		imageNetNet("mobilenetv2", "inverted residuals (Sandler et al. 2018)", 0.05, mobileNetV2),
		imageNetNet("mobilenetv3-small", "MobileNetV3-Small (Howard et al. 2019)", 0.05,
			mobileNetV3(mobileV3Small, 1024)),
		imageNetNet("mobilenetv3-large", "MobileNetV3-Large (Howard et al. 2019)", 0.05,
			mobileNetV3(mobileV3Large, 1280)),
		imageNetNet("mnasnet1-0", "MNASNet-B1 (Tan et al. 2019)", 0.05, mnasNet)),
	family("efficientnet",
		imageNetNet("efficientnet-b0", "EfficientNet (Tan and Le 2019)", 0.05,
			efficientNetB(1, 1, 0.2).forward).pictures(224, 256, "bicubic"),
		imageNetNet("efficientnet-b1", "EfficientNet (Tan and Le 2019)", 0.05,
			efficientNetB(1, 1.1, 0.2).forward).pictures(240, 256, "bicubic"),
		imageNetNet("efficientnet-b2", "EfficientNet (Tan and Le 2019)", 0.05,
			efficientNetB(1.1, 1.2, 0.3).forward).pictures(288, 288, "bicubic"),
		imageNetNet("efficientnet-b3", "EfficientNet (Tan and Le 2019)", 0.05,
			efficientNetB(1.2, 1.4, 0.3).forward).pictures(300, 320, "bicubic"),
		imageNetNet("efficientnet-b4", "EfficientNet (Tan and Le 2019)", 0.05,
			efficientNetB(1.4, 1.8, 0.4).forward).pictures(380, 384, "bicubic"),
		imageNetNet("efficientnet-v2-s", "EfficientNetV2-S (Tan and Le 2021)", 0.05,
			efficientNet{stages: efficientV2S, stem: 24, last: 1280, drop: 0.2,
				eps: 1e-3}.forward).pictures(384, 384, "")),
	family("regnet",
		imageNetNet("regnet-x-400mf", "RegNetX (Radosavovic et al. 2020)", 0.05,
			regNet{[4]int{32, 64, 160, 400}, [4]int{1, 2, 7, 12}, 16, false}.forward),
		imageNetNet("regnet-y-400mf", "RegNetY (Radosavovic et al. 2020)", 0.05,
			regNet{[4]int{48, 104, 208, 440}, [4]int{1, 3, 6, 6}, 8, true}.forward),
		imageNetNet("regnet-y-800mf", "RegNetY (Radosavovic et al. 2020)", 0.05,
			regNet{[4]int{64, 144, 320, 784}, [4]int{1, 3, 8, 2}, 16, true}.forward),
		imageNetNet("regnet-y-1-6gf", "RegNetY (Radosavovic et al. 2020)", 0.05,
			regNet{[4]int{48, 120, 336, 888}, [4]int{2, 6, 17, 2}, 24, true}.forward),
		imageNetNet("regnet-y-3-2gf", "RegNetY (Radosavovic et al. 2020)", 0.05,
			regNet{[4]int{72, 216, 576, 1512}, [4]int{2, 5, 13, 1}, 24, true}.forward),
		imageNetNet("regnet-y-8gf", "RegNetY (Radosavovic et al. 2020)", 0.05,
			regNet{[4]int{224, 448, 896, 2016}, [4]int{2, 4, 10, 1}, 56, true}.forward)),
	family("densenet", imageNetNet("densenet121", "DenseNet-BC, 121 layers (Huang et al. 2017)", 0.05,
		denseNet(6, 12, 24, 16))),
	family("inception",
		imageNetNet("googlenet", "GoogLeNet with batch norm (Szegedy et al. 2014)", 0.05,
			googLeNet).withAuxiliary().normalised(0.5, 0.5),
		imageNetNet("inception-v3", "Inception v3 (Szegedy et al. 2015)", 0.05,
			inceptionV3).withAuxiliary().normalised(0.5, 0.5).pictures(299, 342, "")),
	family("shufflenet", imageNetNet("shufflenet-v2-x1-0", "ShuffleNet v2 (Ma et al. 2018)", 0.05,
		shuffleNetV2(116, 232, 464))),
	family("squeezenet", imageNetNet("squeezenet1-1", "SqueezeNet 1.1, no batch norm (Iandola et al. 2016)",
		0.01, squeezeNet)),
	family("vgg",
		imageNetNet("vgg11-bn", "VGG configuration A with batch norm (Simonyan and Zisserman 2014)", 0.01,
			vggBN(1, 1, 2, 2, 2)),
		imageNetNet("vgg13-bn", "VGG configuration B with batch norm (Simonyan and Zisserman 2014)", 0.01,
			vggBN(2, 2, 2, 2, 2)),
		imageNetNet("vgg16-bn", "VGG configuration D with batch norm (Simonyan and Zisserman 2014)", 0.01,
			vggBN(2, 2, 3, 3, 3)),
		imageNetNet("vgg19-bn", "VGG configuration E with batch norm (Simonyan and Zisserman 2014)", 0.01,
			vggBN(2, 2, 4, 4, 4))),
	family("convnext", imageNetNet("convnext-tiny", "ConvNeXt, no batch norm (Liu et al. 2022)", 0.01,
		convNeXt(3, 3, 9, 3)).pictures(224, 236, "")),
	family("transformer",
		imageNetNet("vit-b-16", "Vision Transformer, patches of 16x16 (Dosovitskiy et al. 2020)", 0.01,
			visionTransformer),
		imageNetNet("swin-t", "Swin Transformer (Liu et al. 2021)", 0.01, swin).pictures(224, 232, "bicubic")),
	family("segmentation",
		Architecture{Name: "unet-bn", Input: scenes,
			About:   "a class for each pixel (Ronneberger et al. 2015), 4 levels, 16 channels",
			Classes: 6, LR: 0.05, Mean: ImageNetMean, Std: ImageNetStd, Pixels: true, forward: unetBN},
		pixelNet("fcn-resnet50", "a class for each pixel (Long et al. 2015) on a dilated ResNet-50",
			onResNet50(fcnHead)).withAuxiliary(),
		pixelNet("deeplabv3-resnet50", "a class for each pixel (Chen et al. 2017) on a dilated ResNet-50",
			onResNet50(deepLabHead)).withAuxiliary(),
		pixelNet("lraspp-mobilenetv3-large", "a class for each pixel on MobileNetV3 (Howard et al. 2019)", lraspp),
		pixelNet("espnet-c", "a class for each pixel by dilated pyramids (Mehta et al. 2018)", espNetC)),
	family("detection",
		boxNet("yolox-nano", "boxes by depthwise convolutions (Ge et al. 2021)", 416,
			yolox{depth: 0.33, width: 0.25, depthwise: true}),
		boxNet("yolox-tiny", "boxes (Ge et al. 2021)", 416, yolox{depth: 0.33, width: 0.375}),
		boxNet("yolox-s", "boxes (Ge et al. 2021)", 640, yolox{depth: 0.33, width: 0.5}),
		anchorNet("fcos-resnet50-fpn", "boxes without anchors (Tian et al. 2019) on a ResNet-50",
			graph.FCOSForm, fcos),
		anchorNet("retinanet-resnet50-fpn", "boxes from anchors (Lin et al. 2017) on a ResNet-50",
			graph.RetinaNetForm, retinaNet(false)),
		anchorNet("retinanet-resnet50-fpn-v2", "boxes from anchors (Lin et al. 2017) on a ResNet-50, group norm",
			graph.RetinaNetV2Form, retinaNet(true)),
		Architecture{Name: "ssdlite320-mobilenetv3-large", Input: Size{320, 320, 3}, Classes: 90, LR: 0.15,
			About: "default boxes (Liu et al. 2016) on MobileNetV3-Large (Howard et al. 2019)", Boxes: graph.SSDForm,
			forward: ssdlite}.normalised(0.5, 0.5)),
)

// family gives architectures the name of their family.
func family(name string, members ...Architecture) []Architecture {
	for i := range members {
		members[i].Family = name
	}
	return members
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

// boxNet is a YOLOX, for pictures with blue first and from 0 to 255.
func boxNet(name, about string, side int, y yolox) Architecture {
	return Architecture{Name: name, About: about, Input: Size{side, side, 3}, Classes: 80, LR: 0.02,
		Boxes: graph.YOLOXForm, forward: y.forward}
}

// anchorNet is a detector of torchvision. Its input holds a picture with sides in the ratio 4 to 3 as
// torchvision scales it.
func anchorNet(name, about string, form graph.BoxForm, f forward) Architecture {
	return Architecture{Name: name, About: about, Input: Size{800, 1088, 3}, Classes: 91, LR: 0.01,
		Mean: ImageNetMean, Std: ImageNetStd, Boxes: form, forward: f}
}

func (a Architecture) sameAs(name string) Architecture {
	a.SameAs = name
	return a
}

func (a Architecture) withAuxiliary() Architecture {
	a.auxiliary = true
	return a
}

// pictures sets the published size of a network, and how its authors scale pictures before
// the crop.
func (a Architecture) pictures(side, resize int, interpolation string) Architecture {
	a.Input, a.resize, a.interpolation = Size{side, side, 3}, resize, interpolation
	return a
}

// normalised sets the preprocessing (x/255 - mean) / std with one number for all channels.
func (a Architecture) normalised(mean, std float64) Architecture {
	a.Mean, a.Std = slices.Repeat([]float64{mean}, 3), slices.Repeat([]float64{std}, 3)
	return a
}
