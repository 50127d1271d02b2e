package main

import "fmt"

// halfInferRows compare predictions at precision bf16 with the best alternative: PyTorch at bfloat16, or ONNX
// Runtime, which computes only in f32 on a CPU.
func halfInferRows() []row {
	var list []row
	for _, name := range []string{"resnet18", "resnet50"} {
		for _, batch := range []int{1, 8, 32} {
			for _, threads := range threadCounts {
				theirs := onnxRuntimes(name, batch, threads)
				for i := range theirs {
					theirs[i].name += " f32 (its CPU has no bf16)"
				}
				for _, format := range []string{"graph-bf16-nhwc", "compiled-bf16-nhwc"} {
					theirs = append(theirs, newPyTorch("infer", name, batch, threads, format))
				}
				list = append(list, row{group: "infer-bf16", unit: "img/s", must: 1, aim: 1.3, threads: threads,
					name: fmt.Sprintf("bf16: %s, batch %d, %s", name, batch, count(threads, "thread")),
					bnctl: side{"bnctl", bnctlRate(modelFile(name), "--mode", "infer", "--precision", "bf16",
						"--batch", fmt.Sprint(batch), "--threads", fmt.Sprint(threads))},
					theirs: theirs})
			}
		}
	}
	return list
}

// halfTrainRows compare training steps at precision bf16 with the better of two forms of PyTorch: with
// autocast, and in f32.
func halfTrainRows() []row {
	var list []row
	for _, t := range trainings {
		if t.name == "lenet-bn" {
			continue
		}
		r := row{group: "train-bf16", unit: "img/s", must: 1.2, aim: 1.5, threads: t.threads,
			name: "bf16: " + t.String(), theirs: t.theirs(),
			bnctl: side{"bnctl", bnctlRate(t.arguments("--precision", "bf16")...)}}
		for i := range r.theirs {
			r.theirs[i].name += " f32"
		}
		for _, format := range []string{"bf16-nhwc", "compiled-bf16-nhwc"} {
			r.theirs = append(r.theirs, newPyTorch("train", t.name, t.batch, t.threads, format))
		}
		list = append(list, r)
	}
	return list
}
