package main

import "fmt"

// halfInferRows are predictions at precision bf16 against ONNX Runtime, whose
// CPU has f32 alone.
func halfInferRows() []row {
	var list []row
	for _, name := range []string{"resnet18", "resnet50"} {
		for _, batch := range []int{8, 32} {
			for _, threads := range threadCounts {
				theirs := onnxRuntime(name, batch, threads)
				theirs.name += " f32 (its CPU has no bf16)"
				list = append(list, row{group: "infer-bf16", unit: "img/s", must: 3, aim: 6, threads: threads,
					name: fmt.Sprintf("bf16: %s, batch %d, %s", name, batch, count(threads, "thread")),
					ours: side{"bnctl", bnctlRate(modelFile(name), "--mode", "infer", "--precision", "bf16",
						"--batch", fmt.Sprint(batch), "--threads", fmt.Sprint(threads))},
					theirs: []side{theirs}})
			}
		}
	}
	return list
}

// halfTrainRows are training steps at precision bf16 against PyTorch in f32.
func halfTrainRows() []row {
	var list []row
	for _, t := range trainings {
		if t.name == "lenet-bn" {
			continue
		}
		r := row{group: "train-bf16", unit: "img/s", must: 2, aim: 4, threads: t.threads,
			name: "bf16: " + t.String(), theirs: t.theirs(),
			ours: side{"bnctl", bnctlRate(t.arguments("--precision", "bf16")...)}}
		for i := range r.theirs {
			r.theirs[i].name += " f32"
		}
		list = append(list, r)
	}
	return list
}
