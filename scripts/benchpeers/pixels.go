package main

import "fmt"

// pixelRows measure networks that give each pixel a class, with batches of 4 pictures of 256 by 256: training
// compared with PyTorch, and predictions compared with the best of ONNX Runtime and PyTorch.
func pixelRows() []row {
	var list []row
	const batch, input = 4, "3,256,256"
	for _, name := range []string{"unet-bn", "deeplabv3-resnet50", "lraspp-mobilenetv3-large"} {
		for _, threads := range threadCounts {
			rate := func(mode string, more ...string) side {
				return side{"bnctl", bnctlRate(append([]string{name, "--mode", mode, "--input", input,
					"--batch", fmt.Sprint(batch), "--threads", fmt.Sprint(threads)}, more...)...)}
			}
			title := fmt.Sprintf("%s, 256x256, batch %d, %s", name, batch, count(threads, "thread"))
			list = append(list, row{group: "pixels-train", unit: "img/s", must: 1.3, aim: 1.3, threads: threads,
				name: title, bnctl: rate("train", "--replicas", "2"),
				theirs: trainers(name, batch, threads)},
				row{group: "pixels-infer", unit: "img/s", must: 1.1, aim: 1.3, threads: threads, name: title,
					bnctl:  rate("infer"),
					theirs: append(onnxRuntimes(name, batch, threads), predictors(name, batch, threads)...)})
		}
	}
	return list
}
