package models_test

import (
	"testing"

	"github.com/bnctl/bnctl/models"
)

// zooCases has the parameter counts of torchvision 0.14 and, for the CIFAR ResNets, of the
// published checkpoints. The count of lenet-bn comes from the same network in PyTorch, the
// count of mlp-bn was made by hand.
var zooCases = []struct {
	name               string
	parameters, layers int // layers: batch norms
	last               string
}{
	{"mlp-bn", 784*256 + 256*2 + 256*128 + 128*2 + 128*10 + 10, 2, "fc3.bias"},
	{"lenet-bn", 32*25 + 64*2*2 - 64 + 64*32*25 + 3136*512 + 512 + 5130, 2, "fc2.bias"},
	{"resnet20", 269722, 19, "linear.bias"},
	{"resnet32", 464154, 31, "linear.bias"},
	{"resnet44", 658586, 43, "linear.bias"},
	{"resnet56", 853018, 55, "linear.bias"},
	{"resnet110", 1727962, 109, "linear.bias"},
	{"resnet18", 11689512, 20, "fc.bias"},
	{"resnet34", 21797672, 36, "fc.bias"},
	{"resnet50", 25557032, 53, "fc.bias"},
	{"resnet101", 44549160, 104, "fc.bias"},
	{"resnet152", 60192808, 155, "fc.bias"},
	{"resnet50-v1", 25557032, 53, "fc.bias"},
	{"resnet101-v1", 44549160, 104, "fc.bias"},
	{"resnet152-v1", 60192808, 155, "fc.bias"},
	{"mobilenetv2", 3504872, 52, "classifier.1.bias"},
	{"unet-bn", 1964182, 18, "head.bias"}, // counted by hand
	{"fcn-resnet50", 32957013, 54, "classifier.4.bias"},
	{"deeplabv3-resnet50", 39638869, 60, "classifier.4.bias"},
	{"lraspp-mobilenetv3-large", 3221538, 47, "classifier.high_classifier.bias"},
	{"espnet-c", 349705, 16, "classifier.conv.weight"}, // counted by hand
	{"vgg16-bn", 138365992, 13, "classifier.6.bias"},
	{"resnext50-32x4d", 25028904, 53, "fc.bias"},
	{"resnext101-32x8d", 88791336, 104, "fc.bias"},
	{"wide-resnet50-2", 68883240, 53, "fc.bias"},
	{"mobilenetv3-small", 2542856, 34, "classifier.3.bias"},
	{"mobilenetv3-large", 5483032, 46, "classifier.3.bias"},
	{"mnasnet1-0", 4383312, 52, "classifier.1.bias"},
	{"efficientnet-b0", 5288548, 49, "classifier.1.bias"},
	{"efficientnet-b1", 7794184, 69, "classifier.1.bias"},
	{"efficientnet-b2", 9109994, 69, "classifier.1.bias"},
	{"efficientnet-b3", 12233232, 78, "classifier.1.bias"},
	{"efficientnet-b4", 19341616, 96, "classifier.1.bias"},
	{"efficientnet-v2-s", 21458488, 110, "classifier.1.bias"},
	{"regnet-x-400mf", 5495976, 71, "fc.bias"},
	{"regnet-y-400mf", 4344144, 53, "fc.bias"},
	{"regnet-y-800mf", 6432512, 47, "fc.bias"},
	{"regnet-y-1-6gf", 11202430, 86, "fc.bias"},
	{"regnet-y-3-2gf", 19436338, 68, "fc.bias"},
	{"regnet-y-8gf", 39381472, 56, "fc.bias"},
	{"densenet121", 7978856, 121, "classifier.bias"},
	{"googlenet", 6624904, 57, "fc.bias"},
	{"inception-v3", 23834568, 94, "fc.bias"},
	{"shufflenet-v2-x1-0", 2278604, 56, "fc.bias"},
	{"squeezenet1-1", 1235496, 0, "classifier.1.bias"},
	{"vgg11-bn", 132868840, 8, "classifier.6.bias"},
	{"vgg13-bn", 133053736, 10, "classifier.6.bias"},
	{"vgg19-bn", 143678248, 16, "classifier.6.bias"},
	{"convnext-tiny", 28589128, 0, "classifier.2.bias"},
	{"vit-b-16", 86567656, 0, "heads.head.bias"},
	{"swin-t", 28288354, 0, "head.bias"},
	{"yolox-nano", 912159, 104, "head.obj_preds.2.bias"},
	{"yolox-tiny", 5055855, 74, "head.obj_preds.2.bias"},
	{"yolox-s", 8968255, 74, "head.obj_preds.2.bias"},
	{"fcos-resnet50-fpn", 32322720, 53, "head.classification_head.cls_logits.bias"},
	{"retinanet-resnet50-fpn", 34068119, 53, "head.classification_head.cls_logits.bias"},
	{"retinanet-resnet50-fpn-v2", 38198935, 53, "head.classification_head.cls_logits.bias"},
	{"ssdlite320-mobilenetv3-large", 3440060, 70, "head.classification_head.module_list.5.1.bias"},
}

func TestZoo(t *testing.T) {
	if got, want := len(models.Architectures()), len(zooCases); got != want {
		t.Errorf("%d architectures, %d cases", got, want)
	}
	for _, c := range zooCases {
		m, err := models.Build(c.name, models.Options{})
		if err != nil {
			t.Errorf("Build(%s): %v", c.name, err)
			continue
		}
		s := m.Summary()
		if s.Parameters != c.parameters || s.Norms != c.layers {
			t.Errorf("%s: %d parameters and %d batch norms, want %d and %d",
				c.name, s.Parameters, s.Norms, c.parameters, c.layers)
		}
		if got := m.Graph.State[len(m.Graph.State)-1].Name; got != c.last {
			t.Errorf("%s: last tensor is %s, want %s", c.name, got, c.last)
		}
	}
}

// Networks for pixels with their auxiliary heads have the parameters and names of
// torchvision 0.14.
func TestAuxiliaryHeads(t *testing.T) {
	for name, want := range map[string]int{"fcn-resnet50": 35322218, "deeplabv3-resnet50": 42004074} {
		m, err := models.Build(name, models.Options{Auxiliary: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Summary().Parameters; got != want {
			t.Errorf("%s: %d parameters, want %d", name, got, want)
		}
		if got := m.Graph.State[len(m.Graph.State)-1].Name; got != "aux_classifier.4.bias" {
			t.Errorf("%s: the last tensor is %s", name, got)
		}
		plain, err := models.Build(name, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		without, err := m.Graph.WithoutAuxiliary()
		if err != nil || string(without.Text()) != string(plain.Graph.Text()) {
			t.Errorf("%s: without its head it is another graph, %v", name, err)
		}
	}
	if _, err := models.Build("resnet18", models.Options{Auxiliary: true}); err == nil {
		t.Error("resnet18 has an auxiliary head")
	}
}
