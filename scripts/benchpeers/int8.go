package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// int8File returns a placeholder for the int8 template of a network in a command line. bench.int8 makes the
// file.
func int8File(name string) string { return "INT8:" + name }

// int8Networks are the networks that are measured in int8, each with the required ratio of its speed to
// bnctl's speed in f32. For resnet18 the ratio is lower, because in f32 the Winograd algorithm saves most of
// its products.
var int8Networks = []struct {
	name, group string // group of the rows that compare int8 with f32
	must, aim   float64
}{{"resnet50", "infer-int8-own", 1.8, 2.5}, {"mobilenetv2", "infer-int8-own", 1.8, 2.5},
	{"efficientnet-b0", "infer-int8-own", 1.8, 2.5}, {"resnet18", "infer-int8-resnet18", 1.4, 1.8}}

// int8Rows compare predictions in int8 with the faster of ONNX Runtime's two forms of int8, and with bnctl's
// f32.
func int8Rows() (list []row) {
	for _, n := range int8Networks {
		for _, batch := range []int{1, 8} {
			for _, threads := range threadCounts {
				rate := func(file string) func(*bench) (float64, error) {
					return bnctlRate(file, "--mode", "infer", "--batch", fmt.Sprint(batch), "--threads",
						fmt.Sprint(threads))
				}
				r := row{group: "infer-int8", unit: "img/s", must: 1, aim: 1.15, threads: threads,
					name:  fmt.Sprintf("int8: %s, batch %d, %s", n.name, batch, count(threads, "thread")),
					bnctl: side{"bnctl", rate(int8File(n.name))}}
				for _, form := range []string{"u8s8", "s8s8"} {
					r.theirs = append(r.theirs, quantised(n.name, form, batch, threads)...)
				}
				float := r
				float.group, float.must, float.aim = n.group, n.must, n.aim
				float.theirs = []side{{"bnctl f32", rate(graphFile(n.name))}}
				list = append(list, r, float)
			}
		}
	}
	return list
}

// quantised returns the side that predicts with ONNX Runtime, from a file in QDQ form that ONNX Runtime's
// quantiser has made.
func quantised(name, form string, batch, threads int) []side {
	list := onnxRuntimes(name+"."+form, batch, threads)
	for i := range list {
		measure := list[i].measure
		list[i].name += " " + form
		list[i].measure = func(b *bench) (float64, error) {
			if err := b.qdq(name, form); err != nil {
				return 0, err
			}
			return measure(b)
		}
	}
	return list
}

// qdq makes the file NAME.FORM.onnx next to NAME.onnx, unless it exists.
func (b *bench) qdq(name, form string) error {
	file := name + "." + form + ".onnx"
	if _, err := os.Stat(filepath.Join(b.models, file)); err == nil {
		return nil
	}
	enter, err := b.enter()
	if err != nil {
		return err
	}
	// The flag -P is necessary because a script in this folder has the same name as a Python package.
	words := slices.Concat(enter, []string{"python3", "-P", "quantise.py", "/models/" + name + ".onnx",
		"/models/" + file, form})
	if out, err := exec.CommandContext(b.ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("quantise.py %s %s: %w: %s", name, form, err, out)
	}
	return nil
}

// int8 returns the int8 template of a network. Its ranges of values are estimated from the batch norms alone.
func (b *bench) int8(name string) (string, error) {
	file := filepath.Join(b.models, name+".int8.bnm")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	from := filepath.Join(b.models, name+".train.onnx")
	if _, err := os.Stat(from); err != nil {
		if from, err = b.file(name); err != nil {
			return "", err
		}
	}
	var ignored struct{}
	return file, b.run(&ignored, "quantize", from, "--preprocess", "imagenet", "-o", file)
}
