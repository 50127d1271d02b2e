package main

import "fmt"

// graphFile returns a placeholder, in a command line, for the ONNX file of a network of scripts/peers/zoo.py.
// bnctl reads this file unchanged.
func graphFile(name string) string { return "GRAPH:" + name }

// zoo are the networks with activations other than relu.
var zoo = []string{"efficientnet-b0", "mobilenetv3-large", "mobilenetv3-small", "shufflenetv2",
	"yolov8n",
	"yolox-nano"}

// every lists all networks of bnctl's zoo that torchvision has too. networks.py writes their files.
var every = []string{"resnet18", "resnet34", "resnet50", "resnet101", "resnet152",
	"resnext50-32x4d",
	"resnext101-32x8d", "wide-resnet50-2", "mobilenetv2", "mobilenetv3-small",
	"mobilenetv3-large", "mnasnet1-0",
	"efficientnet-b0", "efficientnet-b1", "efficientnet-b2", "efficientnet-b3", "efficientnet-b4",
	"efficientnet-v2-s", "regnet-x-400mf", "regnet-y-400mf", "regnet-y-800mf",
	"regnet-y-1-6gf", "regnet-y-3-2gf",
	"regnet-y-8gf", "densenet121", "googlenet", "inception-v3", "shufflenet-v2-x1-0",
	"squeezenet1-1", "vgg11-bn",
	"vgg13-bn", "vgg16-bn", "vgg19-bn", "convnext-tiny", "vit-b-16", "swin-t"}

// These groups of rows need an hour or more. They are measured only if the flag -rows names them.
const (
	everyGroup      = "infer-zoo-all"
	everyTorchGroup = "infer-zoo-pytorch"
)

// zooInferRows compare predictions of the networks in zoo with the better of two ONNX Runtimes, which read
// the same file.
func zooInferRows() []row { return graphRows("infer-zoo", 1.1, 1.4, zoo) }

// everyInferRows returns the rows of predictions for the networks in every.
func everyInferRows() []row { return graphRows(everyGroup, 0.85, 1.2, every) }

// everyTorchRows compare predictions of the networks in every, on one thread, with the better of two PyTorchs
// with frozen weights.
func everyTorchRows() (list []row) {
	const batch = 8
	for _, name := range every {
		list = append(list, row{group: everyTorchGroup, unit: "img/s", must: 0.85, aim: 1.2, threads: 1,
			name: fmt.Sprintf("%s, batch %d, 1 thread", name, batch),
			bnctl: side{"bnctl", bnctlRate(graphFile(name), "--mode", "infer", "--batch", fmt.Sprint(batch),
				"--threads", "1")},
			theirs: []side{pyTorch("infer", name, batch, 1, "frozen"), newPyTorch("infer", name, batch, 1, "frozen")}})
	}
	return list
}

func graphRows(group string, must, aim float64, networks []string) (list []row) {
	for _, name := range networks {
		for _, batch := range []int{1, 8} {
			for _, threads := range threadCounts {
				list = append(list, row{group: group, unit: "img/s", must: must, aim: aim,
					threads: threads,
					name:    fmt.Sprintf("%s, batch %d, %s", name, batch, count(threads, "thread")),
					bnctl: side{"bnctl", bnctlRate(graphFile(name), "--mode", "infer",
						"--batch", fmt.Sprint(batch), "--threads", fmt.Sprint(threads))},
					theirs: onnxRuntimes(name, batch, threads)})
			}
		}
	}
	return list
}

// trained are the networks with measured training. bnctl trains the file of scripts/peers/zoo.py if
// there is one for the network, and otherwise its built-in graph.
var trained = []struct{ name, graph string }{
	{"efficientnet-b0", graphFile("efficientnet-b0.train")},
	{"mobilenetv3-large", graphFile("mobilenetv3-large.train")},
	{"shufflenetv2", graphFile("shufflenetv2.train")}, {"resnet18", "resnet18"}, {"resnet50", "resnet50"},
	{"mobilenetv2", "mobilenetv2"}, {"densenet121", "densenet121"}, {"regnet-y-400mf", "regnet-y-400mf"},
}

// zooTrainRows compare training steps of the networks in trained, at 224x224, with the best way to train with
// PyTorch.
func zooTrainRows() (list []row) {
	for _, n := range trained {
		for _, threads := range threadCounts {
			t := training{n.graph, 16, 2, threads}
			r := row{group: "train-zoo", unit: "img/s", must: 1.2, aim: 2, threads: threads,
				bnctl: side{"bnctl", bnctlRate(t.arguments()...)}}
			t.name = n.name
			r.name, r.theirs = t.String(), t.theirs()
			list = append(list, r)
		}
	}
	return list
}
