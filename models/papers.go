package models

import "strings"

// Paper is the recipe with which the authors of a network trained it.
type Paper struct {
	Said   string `json:"said"`   // the authors' recipe, in words
	Source string `json:"source"` // place of publication
	// Options are the nearest recipe that bnctl has, by the names of options; flags without
	// a value are "true".
	Options map[string]string `json:"options"`
	From    string            `json:"from,omitempty"` // source of the options, if not Source
}

// Paper returns the published recipe of a, and whether there is one.
func (a Architecture) Paper() (p Paper, ok bool) {
	for _, r := range papers {
		for name := range strings.FieldsSeq(r.networks) {
			if name == a.Name || name == a.Family {
				return Paper{r.said, r.source, r.read(), r.from}, true
			}
		}
	}
	return Paper{}, false
}

// paper is a row of the recipes. Its networks are names of architectures or families; the first row with the
// name counts. Options are NAME=VALUE, with + for a space.
type paper struct{ networks, said, source, options, from string }

func (p paper) read() map[string]string {
	options := map[string]string{"optimizer": "sgd"}
	for option := range strings.FieldsSeq(p.options) {
		name, value, _ := strings.Cut(option, "=")
		options[name] = strings.ReplaceAll(value, "+", " ")
	}
	return options
}

// torchvisions is the source of options where bnctl lacks the authors' optimizer.
const torchvisions = "torchvision's references/classification"

// The augmentation of most recipes: a part of the picture, mirrored in half of
// the cases.
const inceptionAugment = " augment=resizedcrop+flip"

var papers = []paper{
	{"cifar-resnet", "SGD with momentum 0.9, batch 128, 64000 steps, a rate of 0.1 that is divided by " +
		"10 at 32000 and 48000 (110 layers: 0.01 at first), weight decay 0.0001, shifts by 4 pixels and " +
		"mirror images", "He et al. 2015, section 4.2", "lr=0.1@128 epochs=164 batch=128 " +
		"schedule=step:82,123 weight-decay=0.0001 decay-all=true augment=crop:4+flip", ""},
	{"resnext50-32x4d resnext101-32x8d", "SGD with momentum 0.9, batch 256, a rate of 0.1 that is " +
		"divided by 10 three times, weight decay 0.0001", "Xie et al. 2017", "lr=0.1@256 epochs=100 " +
		"batch=256 schedule=step:30,60,90 weight-decay=0.0001 decay-all=true" + inceptionAugment, ""},
	{"resnet", "SGD with momentum 0.9, batch 256, a rate of 0.1 that is divided by 10 when the error " +
		"stays, 600000 steps, weight decay 0.0001, crops of scaled pictures, mirror images; batch norms' " +
		"statistics were taken anew at the end, over a large batch (the authors' release)", "He et al. " +
		"2015, section 3.4", "lr=0.1@256 epochs=90 batch=256 schedule=step:30,60 weight-decay=0.0001 " +
		"decay-all=true bn-precise=8192" + inceptionAugment, ""},
	{"mobilenetv2", "RMSProp with decay and momentum 0.9, a rate of 0.045 times 0.98 each epoch, batch " +
		"96 on each of 16 workers, weight decay 0.00004", "Sandler et al. 2018, section 6.1",
		"lr=0.045@256 epochs=300 batch=256 schedule=cosine weight-decay=0.00004 " +
			"decay-all=true" + inceptionAugment, torchvisions},
	{"mobilenetv3-small mobilenetv3-large", "RMSProp with momentum 0.9, a rate of 0.1 times 0.99 every " +
		"3 epochs, batch 4096, dropout, weight decay 0.00001, an average of the weights with 0.9999, batch " +
		"norms with decay 0.99", "Howard et al. 2019, section 6.1.1", "lr=0.5@1024 epochs=600 batch=1024 " +
		"warmup=5 weight-decay=0.00002 label-smoothing=0.1 ema=0.9999 " +
		"augment=resizedcrop+flip+trivial+erase:0.1+mixup:0.2", torchvisions},
	{"mnasnet1-0", "RMSProp with decay and momentum 0.9, a rate that rises to 0.256 in 5 epochs and " +
		"then falls by 0.97 every 2.4 epochs, batch 4096, dropout 0.2, weight decay 0.00001, batch norms " +
		"with decay 0.99", "Tan et al. 2019", "lr=0.5@1024 epochs=600 batch=1024 warmup=5 " +
		"weight-decay=0.00002 label-smoothing=0.1 ema=0.9999 " +
		"augment=resizedcrop+flip+trivial+erase:0.1+mixup:0.2", torchvisions},
	{"efficientnet-v2-s", "RMSProp with decay and momentum 0.9, 350 epochs, batch 4096, a rate that " +
		"rises to 0.256 and falls by 0.97 every 2.4 epochs, weight decay 0.00001, an average of the " +
		"weights with 0.9999, RandAugment, Mixup, dropout and stochastic depth, batch norms with decay " +
		"0.99; pictures grow from 128 to 300", "Tan and Le 2021, section 5.1", "lr=0.5@1024 epochs=600 " +
		"batch=1024 warmup=5 weight-decay=0.00002 label-smoothing=0.1 ema=0.9999 " +
		"augment=resizedcrop+flip+trivial+erase:0.1+mixup:0.2", torchvisions},
	{"efficientnet", "RMSProp with decay and momentum 0.9, a rate of 0.256 that falls by 0.97 every 2.4 " +
		"epochs, weight decay 0.00001, dropout 0.2 to 0.5, stochastic depth, AutoAugment, batch norms with " +
		"decay 0.99", "Tan and Le 2019, section 5.2", "lr=0.5@1024 epochs=600 batch=1024 warmup=5 " +
		"weight-decay=0.00002 label-smoothing=0.1 ema=0.9999 " +
		"augment=resizedcrop+flip+trivial+erase:0.1+mixup:0.2", torchvisions},
	{"regnet-y-3-2gf regnet-y-8gf", regNetSaid + "batch 512, a rate of 0.4", "pycls, the authors' " +
		"code", "lr=0.4@512 batch=512 " + regNetOptions, ""},
	{"regnet", regNetSaid + "batch 1024, a rate of 0.8", "pycls, the authors' code", "lr=0.8@1024 " +
		"batch=1024 " + regNetOptions, ""},
	{"densenet121", "SGD with Nesterov momentum 0.9, batch 256, 90 epochs, a rate of 0.1 that is " +
		"divided by 10 after 30 and 60, weight decay 0.0001", "Huang et al. 2017, section 4.2",
		"lr=0.1@256 epochs=90 batch=256 nesterov=true schedule=step:30,60 weight-decay=0.0001 " +
			"decay-all=true" + inceptionAugment, ""},
	{"googlenet", "asynchronous SGD with momentum 0.9, a rate that falls by 4 % every 8 epochs, an " +
		"average of the weights, crops of 8 to 100 % of the area, auxiliary losses with weight 0.3",
		"Szegedy et al. 2014, sections 5 and 6", "lr=0.1@256 epochs=90 batch=256 schedule=step:30,60 " +
			"weight-decay=0.0001 aux-weight=0.3 augment=resizedcrop+flip+jitter", torchvisions},
	{"inception-v3", "RMSProp with decay 0.9 and epsilon 1, 100 epochs, batch 32 on each of 50 workers, " +
		"a rate of 0.045 times 0.94 every 2 epochs, gradients of at most 2, label smoothing 0.1, an " +
		"average of the weights", "Szegedy et al. 2015, section 8", "lr=0.1@256 epochs=100 batch=256 " +
		"schedule=step:30,60,90 weight-decay=0.00004 label-smoothing=0.1 clip-norm=2 ema=0.9999 " +
		"aux-weight=0.4 augment=resizedcrop+flip+jitter", torchvisions},
	{"shufflenet-v2-x1-0", "SGD, batch 1024, 300000 steps, a rate of 0.5 that falls to 0 linearly, " +
		"weight decay 0.00004", "Zhang et al. 2018, section 4 (ShuffleNet v1), whose recipe Ma et al. 2018 " +
		"keep", "lr=0.5@1024 epochs=240 batch=1024 schedule=poly:1 weight-decay=0.00004 " +
		"label-smoothing=0.1" + inceptionAugment, ""},
	{"squeezenet1-1", "SGD, a rate of 0.04 that falls linearly, batch 512, 170000 steps, weight decay " +
		"0.0002", "Iandola et al. 2016, the authors' release", "lr=0.04@512 epochs=68 batch=512 " +
		"schedule=poly:1 weight-decay=0.0002 decay-all=true" + inceptionAugment, ""},
	{"vgg", "SGD with momentum 0.9, batch 256, a rate of 0.01 that is divided by 10 three times when " +
		"the accuracy stays, 74 epochs, weight decay 0.0005, dropout 0.5, crops of scaled pictures, mirror " +
		"images, shifts of colours", "Simonyan and Zisserman 2014, section 3.1 (without batch norm)",
		"lr=0.01@256 epochs=74 batch=256 schedule=plateau weight-decay=0.0005 " +
			"decay-all=true" + inceptionAugment, ""},
	{"convnext-tiny", "AdamW, 300 epochs, batch 4096, a rate of 0.004 that rises in 20 epochs and falls " +
		"as a cosine, weight decay 0.05, Mixup 0.8, CutMix 1, RandAugment 9, erasing 0.25, label smoothing " +
		"0.1, stochastic depth 0.1, an average of the weights with 0.9999", "Liu et al. 2022, table 5",
		"optimizer=adamw lr=0.004@4096 epochs=300 batch=4096 warmup=20 weight-decay=0.05 ema=0.9999 " +
			"" + transformerOptions, ""},
	{"vit-b-16", "Adam, 300 epochs, batch 4096, a rate of 0.003 that rises in 10000 steps and falls as " +
		"a cosine, weight decay 0.3, dropout 0.1, gradients of at most 1", "Dosovitskiy et al. 2020, table " +
		"3", "optimizer=adamw lr=0.003@4096 epochs=300 batch=4096 warmup=32 weight-decay=0.3 " +
		"clip-norm=1" + inceptionAugment, ""},
	{"swin-t", "AdamW, 300 epochs, batch 1024, a rate of 0.001 that rises in 20 epochs and falls as a " +
		"cosine, weight decay 0.05, gradients of at most 5, Mixup 0.8, CutMix 1, RandAugment 9, erasing " +
		"0.25, label smoothing 0.1, stochastic depth 0.2", "Liu et al. 2021, section A2.1",
		"optimizer=adamw lr=0.001@1024 epochs=300 batch=1024 warmup=20 weight-decay=0.05 clip-norm=5 " +
			"" + transformerOptions, ""},
	{"fcn-resnet50 lraspp-mobilenetv3-large", "SGD with momentum 0.9, a fixed rate, weight decay 0.0005 " +
		"(FCN); its classifier's weights at first", "Long et al. 2015, section 4.3", segmentOptions + " " +
		"lr=0.01@16", "torchvision's references/segmentation"},
	{"deeplabv3-resnet50", "SGD, batch 16, a rate of 0.007 that falls to 0 with power 0.9, crops of 513 " +
		"at scales from 0.5 to 2, mirror images, batch norms with decay 0.9997; its classifier's weights " +
		"at first", "Chen et al. 2017, section 4.1", segmentOptions + " lr=0.007@16", ""},
	{"espnet-c", "Adam, 300 epochs, a rate of 0.0005 that is halved every 100 epochs, weight decay " +
		"0.0005", "Mehta et al. 2018", "optimizer=adam lr=0.0005 epochs=300 batch=10 weight-decay=0.0005 " +
		"class-weights=median augment=segment", ""},
	{"fcos-resnet50-fpn", "SGD with momentum 0.9, batch 16, 90000 steps, a rate of 0.01 that is divided by " +
		"10 at 60000 and 80000, weight decay 0.0001, mirror images; its classifier's weights at first, with " +
		"frozen batch norms", "Tian et al. 2019, section 4", detectionOptions,
		"torchvision's references/detection"},
	{"retinanet-resnet50-fpn retinanet-resnet50-fpn-v2", "SGD with momentum 0.9, batch 16, 90000 steps, a " +
		"rate of 0.01 that is divided by 10 at 60000 and 80000, weight decay 0.0001, mirror images; its " +
		"classifier's weights at first, with frozen batch norms", "Lin et al. 2017, section 4.1",
		detectionOptions, "torchvision's references/detection"},
	{"ssdlite320-mobilenetv3-large", "SGD with momentum 0.9, 660 epochs, batch 192, a rate of 0.15 " +
		"that falls as a cosine, weight decay 0.00004, random crops, mirror images and colours",
		"Howard et al. 2019, section 6.3",
		"lr=0.15@192 epochs=660 batch=192 schedule=cosine weight-decay=0.00004 augment=segment",
		"torchvision's references/detection"},
	{"detection", "SGD with momentum 0.9 and Nesterov, 300 epochs, batch 128, a rate of 0.01 for 64 pictures " +
		"that rises in 5 epochs and falls as a cosine, weight decay 0.0005, averaged weights, mosaic, " +
		"mixup, mirror images, colours, other sizes", "Ge et al. 2021, sections 2.1 and 2.2",
		"lr=0.01@64 epochs=300 batch=128 schedule=cosine warmup=5 nesterov=true weight-decay=0.0005 " +
			"ema=0.9998 augment=segment", ""},
}

const (
	regNetSaid = "SGD with momentum 0.9, 100 epochs, a rate that rises in 5 epochs and falls as a " +
		"cosine, weight decay 0.00005, statistics of batch norms over 8192 samples at the end; "
	regNetOptions = "epochs=100 warmup=5 nesterov=true weight-decay=0.00005 decay-all=true " +
		"bn-precise=8192" + inceptionAugment
	transformerOptions = "label-smoothing=0.1 " +
		"augment=resizedcrop+flip+randaugment:2,9+erase:0.25+mixup:0.8+cutmix:1"
	detectionOptions = "lr=0.01@16 epochs=26 batch=16 schedule=step:16,22 weight-decay=0.0001 decay-all=true " +
		"augment=flip bn=frozen"
	segmentOptions = "epochs=30 batch=16 schedule=poly:0.9 weight-decay=0.0001 augment=segment"
)
