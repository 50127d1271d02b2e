package main

import (
	"fmt"
	"slices"
)

// row is one line of the table. Its sides, bnctl and the peers, are measured alternately.
type row struct {
	group         string
	name          string
	threads       int // number of threads for the probe of the machine before and after the row
	unit          string
	lowerIsBetter bool // smaller figures are better
	must          float64
	aim           float64
	note          string // the required value, for a row without peers
	bnctl         side
	theirs        []side // the peers, of which the best counts; empty for a row without peers
}

// side is one of the programs that a row compares. measure measures it once.
type side struct {
	name    string
	measure func(b *bench) (float64, error)
}

// groups lists the groups of rows in the order of the table.
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
	return slices.Concat(inferRows(), untunedRows(), zooInferRows(), everyInferRows(),
		everyTorchRows(), halfInferRows(), int8Rows(), trainRows(),
		zooTrainRows(), layerRows(), halfTrainRows(),
		pixelRows(), deviceRows(), processRows(), callRows(), coldRows(), inputRows())
}

var threadCounts = []int{1, 2}

// predicted is a network, and the batches with which its predictions are measured.
type predicted struct {
	name    string
	batches []int
}

// inferRows compare predictions with the best of two ONNX Runtimes, oneDNN, two PyTorchs and XNNPACK. The
// ONNX Runtimes have the same weights as bnctl.
func inferRows() []row {
	return predictions("infer", 1.3, 2, predicted{"resnet20", []int{1, 32, 256}},
		predicted{"resnet18", []int{1, 8, 32}}, predicted{"resnet50", []int{1, 8, 32}},
		predicted{"mobilenetv2", []int{1, 8, 32}})
}

// untunedRows measure predictions of networks that no kernel of bnctl was tuned for.
func untunedRows() []row {
	return predictions("infer-untuned", 1.2, 1.6, predicted{"resnet34", []int{1, 16}},
		predicted{"resnet101", []int{1, 16}}, predicted{"vgg16-bn", []int{1, 16}})
}

// predictions returns the rows of networks, each on one thread and on two threads. must is the required ratio
// and aim the desired one.
func predictions(group string, must, aim float64, networks ...predicted) (list []row) {
	for _, m := range networks {
		for _, batch := range m.batches {
			for _, threads := range threadCounts {
				list = append(list, row{group: group, unit: "img/s", must: must, aim: aim, threads: threads,
					name: fmt.Sprintf("%s, batch %d, %s", m.name, batch, count(threads, "thread")),
					bnctl: side{"bnctl", bnctlRate(modelFile(m.name), "--mode", "infer",
						"--batch", fmt.Sprint(batch), "--threads", fmt.Sprint(threads))},
					theirs: slices.Concat(onnxRuntimes(m.name, batch, threads), predictors(m.name, batch, threads),
						[]side{oneDNN(m.name, batch, threads)})})
			}
		}
	}
	return list
}

// predictors returns the sides that predict with PyTorch in f32, one for each way to do so.
func predictors(model string, batch, threads int) (list []side) {
	for _, format := range []string{"frozen", "xnnpack"} {
		list = append(list, pyTorch("infer", model, batch, threads, format))
	}
	for _, format := range []string{"frozen", "graph-nhwc", "compiled", "compiled-nhwc"} {
		list = append(list, newPyTorch("infer", model, batch, threads, format))
	}
	return list
}

// training is a training that a row measures.
type training struct {
	name                     string
	batch, replicas, threads int
}

// arguments returns the arguments of bnctl bench that measure the training.
func (t training) arguments(extra ...string) []string {
	return append([]string{t.name, "--mode", "train", "--batch", fmt.Sprint(t.batch), "--replicas",
		fmt.Sprint(t.replicas), "--threads", fmt.Sprint(t.threads)}, extra...)
}

// theirs returns the sides that do the same training with PyTorch, in f32.
func (t training) theirs() []side { return trainers(t.name, t.batch, t.threads) }

// trainers returns the sides that train with PyTorch in f32, one for each way to do so.
func trainers(model string, batch, threads int) []side {
	list := []side{pyTorch("train", model, batch, threads, "nchw"),
		pyTorch("train", model, batch, threads, "nhwc")}
	for _, format := range []string{"nchw", "nhwc", "compiled", "compiled-nhwc"} {
		list = append(list, newPyTorch("train", model, batch, threads, format))
	}
	return list
}

func (t training) String() string {
	return fmt.Sprintf("%s, batch %d (R %d), %s", t.name, t.batch, t.replicas, count(t.threads, "thread"))
}

var trainings = []training{{"resnet20", 128, 8, 1}, {"resnet20", 128, 8, 2}, {"resnet18", 16, 2, 1},
	{"resnet18", 16, 2, 2}, {"lenet-bn", 128, 8, 1}, {"lenet-bn", 128, 8, 2}}

// trainRows compare training steps with the best way to train with PyTorch.
func trainRows() (list []row) {
	for _, t := range trainings {
		list = append(list, row{group: "train", unit: "img/s", must: 1.5, aim: 2, threads: t.threads,
			name: t.String(), bnctl: side{"bnctl", bnctlRate(t.arguments()...)}, theirs: t.theirs()})
	}
	return list
}

// layerRows compare training steps with the sum of the times of oneDNN's layers. The sum is a lower bound
// that a step can approach but not reach: it does not include the loss, the update and the exchange of data
// between layers.
func layerRows() (list []row) {
	for _, t := range trainings {
		list = append(list, row{group: "train-layers", unit: "img/s", must: 1, aim: 1.3, threads: t.threads,
			name: t.String(), bnctl: side{"bnctl", bnctlRate(t.arguments()...)},
			theirs: []side{oneDNNTraining(t.name, t.batch, t.threads)}})
	}
	return list
}

// deviceRows compare two devices with one device.
func deviceRows() []row {
	scaled := func(devices string) func(*bench) (float64, error) {
		return bnctlRate("resnet20", "--mode", "train", "--batch", "128", "--replicas", "8", "--devices", devices,
			"--threads", "1")
	}
	return []row{{group: "devices", name: "resnet20 training, batch 128: two CPU devices of one thread vs one",
		threads: 2, unit: "img/s", must: 1.8, aim: 1.95,
		bnctl: side{"2xcpu", scaled("2xcpu")}, theirs: []side{{"cpu", scaled("cpu")}}},
		{group: "devices", name: "the same: blocked in exchanges", threads: 2, unit: "% of the step",
			lowerIsBetter: true,
			note:          "must 3, aim 1", bnctl: side{"2xcpu", blocked}},
		waiting("registers", "two threads that compute in registers and meet as often, waiting"),
		waiting("memory", "two threads that go over 4 MiB each and meet as often, waiting")}
}

// waiting returns a row that measures how unevenly the machine runs two threads that do the same work.
func waiting(work, name string) row {
	return row{group: "devices", name: name, threads: 2, unit: "% of the step", lowerIsBetter: true,
		note: "the machine's", bnctl: side{"shared memory", func(b *bench) (float64, error) {
			return b.goBench("./device/internal/shm", "^BenchmarkWaiting$/^"+work+"$", "%-waited")
		}}}
}

// blocked returns the share of a training step in percent where two devices wait for each other.
func blocked(b *bench) (float64, error) {
	var e struct {
		Sync float64 `json:"sync_share"`
	}
	err := b.run(&e, "bench", "resnet20", "--mode", "train", "--batch", "128", "--replicas", "8", "--devices",
		"2xcpu", "--threads", "1", "--seconds", fmt.Sprint(b.seconds))
	return 100 * e.Sync, err
}

// processRows compare a device in the process of a plugin with the same device in bnctl's process. Each round
// measures both.
func processRows() []row {
	predict := func(batch, unit string) side {
		return side{"bnctl", func(b *bench) (float64, error) {
			return b.goBench("./device/remote", "^BenchmarkPredict$/^"+batch+"$", unit)
		}}
	}
	const name = "resnet20, batch %d, one thread: plugin process vs in process"
	return []row{
		{group: "process", name: fmt.Sprintf(name, 32), threads: 1, unit: "% more", note: "must 2, aim 1",
			bnctl: predict("batch32", "%-more")},
		{group: "process", name: "the same outside of the device", threads: 1, unit: "µs more",
			note: "part of the above", bnctl: predict("batch32", "µs-border")},
		{group: "process", name: fmt.Sprintf(name, 1), threads: 1, unit: "µs more", note: "must 50, aim 20",
			bnctl: predict("batch1", "µs-more")},
	}
}

// callRows compare predictions of package inprocess, with one call for each row, with the ONNX Runtimes.
func callRows() (list []row) {
	for _, name := range []string{"resnet20", "resnet18", "resnet50", "mobilenetv2"} {
		list = append(list, row{group: "in-process", unit: "img/s", must: 1.3, aim: 2, threads: 1,
			name: name + ", batch 1, 1 thread",
			bnctl: side{"bnctl", func(b *bench) (float64, error) {
				file, err := b.file(name)
				if err != nil {
					return 0, err
				}
				return b.goBenchWith([]string{"BNCTL_BENCH_MODEL=" + file}, "./inprocess", "^BenchmarkFile$", "images/s")
			}},
			theirs: onnxRuntimes(name, 1, 1)})
	}
	return list
}

// count returns a number with its noun: "1 thread", "2 threads".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
