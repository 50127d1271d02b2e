package main

import (
	"fmt"
	"slices"
)

// row is one line of the table. Its two sides are measured in turn.
type row struct {
	group   string
	name    string
	threads int // of the probe beside it
	unit    string
	less    bool // less is better
	must    float64
	aim     float64 // both as ratios to the other side; 0: see the note
	note    string
	ours    side
	theirs  []side // the best of them counts; none: the row stands alone
}

// side measures one side of a row once.
type side struct {
	name    string
	measure func(b *bench) (float64, error)
}

// groups lists the groups of rows in order.
func groups() []string {
	var names []string
	for _, r := range rows() {
		if !slices.Contains(names, r.group) {
			names = append(names, r.group)
		}
	}
	return names
}

// rows returns all rows.
func rows() []row {
	return slices.Concat(inferRows(), trainRows(), deviceRows(), coldRows(), inputRows())
}

var threadCounts = []int{1, 2}

// inferRows are predictions against ONNX Runtime, both with the same weights.
func inferRows() []row {
	var list []row
	for _, m := range []struct {
		name    string
		batches []int
	}{{"resnet20", []int{1, 32, 256}}, {"resnet18", []int{1, 8, 32}}, {"resnet50", []int{1, 8, 32}},
		{"mobilenetv2", []int{1, 8, 32}}} {
		for _, batch := range m.batches {
			for _, threads := range threadCounts {
				list = append(list, row{group: "infer", unit: "img/s", must: 1.3, aim: 2, threads: threads,
					name: fmt.Sprintf("%s, batch %d, %s", m.name, batch, count(threads, "thread")),
					ours: side{"bnctl", bnctlRate(modelFile(m.name), "--mode", "infer",
						"--batch", fmt.Sprint(batch), "--threads", fmt.Sprint(threads))},
					theirs: []side{onnxRuntime(m.name, batch, threads)}})
			}
		}
	}
	return list
}

// trainRows are training steps against PyTorch.
func trainRows() []row {
	var list []row
	for _, m := range []struct {
		name            string
		batch, replicas int
	}{{"resnet20", 128, 8}, {"resnet18", 16, 2}, {"lenet-bn", 128, 8}} {
		for _, threads := range threadCounts {
			list = append(list, row{group: "train", unit: "img/s", must: 1.5, aim: 2, threads: threads,
				name: fmt.Sprintf("%s, batch %d (R %d), %s", m.name, m.batch, m.replicas, count(threads, "thread")),
				ours: side{"bnctl", bnctlRate(m.name, "--mode", "train", "--batch", fmt.Sprint(m.batch),
					"--replicas", fmt.Sprint(m.replicas), "--threads", fmt.Sprint(threads))},
				theirs: []side{pyTorch(m.name, m.batch, threads, "nchw"), pyTorch(m.name, m.batch, threads, "nhwc")}})
		}
	}
	return list
}

// deviceRows compare two devices with one.
func deviceRows() []row {
	scaled := func(devices string) func(*bench) (float64, error) {
		return bnctlRate("resnet20", "--mode", "train", "--batch", "128", "--replicas", "8", "--devices", devices,
			"--threads", "1")
	}
	return []row{{group: "devices", name: "resnet20 training, batch 128: two CPU devices of one thread vs one",
		threads: 2, unit: "img/s", must: 1.8, aim: 1.95,
		ours: side{"2xcpu", scaled("2xcpu")}, theirs: []side{{"cpu", scaled("cpu")}}}}
}

// count writes "1 thread", "2 threads".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
