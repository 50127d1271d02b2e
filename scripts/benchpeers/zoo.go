package main

import "fmt"

// graphFile stands for the ONNX file of a network of scripts/peers/zoo.py, which bnctl reads as it is.
func graphFile(name string) string { return "GRAPH:" + name }

// zoo are the networks whose activations are not relu alone.
var zoo = []string{"efficientnet-b0", "mobilenetv3-large", "mobilenetv3-small", "shufflenetv2", "yolov8n",
	"yolox-nano"}

// zooInferRows are predictions of the zoo against the best of two ONNX Runtimes, from one file.
func zooInferRows() (list []row) {
	for _, name := range zoo {
		for _, batch := range []int{1, 8} {
			for _, threads := range threadCounts {
				list = append(list, row{group: "infer-zoo", unit: "img/s", must: 1.1, aim: 1.4, threads: threads,
					name: fmt.Sprintf("%s, batch %d, %s", name, batch, count(threads, "thread")),
					bnctl: side{"bnctl", bnctlRate(graphFile(name), "--mode", "infer",
						"--batch", fmt.Sprint(batch), "--threads", fmt.Sprint(threads))},
					theirs: onnxRuntimes(name, batch, threads)})
			}
		}
	}
	return list
}

// zooTrainRows are training steps of networks of the zoo, at 224x224, against the best of PyTorch.
func zooTrainRows() (list []row) {
	for _, name := range []string{"efficientnet-b0", "mobilenetv3-large"} {
		for _, threads := range threadCounts {
			t := training{graphFile(name + ".train"), 16, 2, threads}
			r := row{group: "train-zoo", unit: "img/s", must: 1.3, aim: 1.8, threads: threads,
				bnctl: side{"bnctl", bnctlRate(t.arguments()...)}}
			t.name = name
			r.name, r.theirs = t.String(), t.theirs()
			list = append(list, r)
		}
	}
	return list
}
