package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// trainEndings refuses names of files that say they are something else.
func trainEndings(output, checkpoint string) error {
	if ending := filepath.Ext(output); output != "" && !strings.EqualFold(ending, ".bnm") {
		name := strings.TrimSuffix(output, ending) + ".bnm"
		advice := "name it " + name
		switch strings.ToLower(ending) {
		case ".onnx", ".pth", ".pt", ".safetensors":
			advice = fmt.Sprintf("train -o %s, then bnctl export %s -o %s", name, name, output)
		}
		return misuse("-o %s: train writes a template, whose name ends with .bnm; %s", output, advice)
	}
	if checkpoint != "" && !strings.EqualFold(filepath.Ext(checkpoint), ".bnc") {
		return misuse("--checkpoint %s: the name of a checkpoint ends with .bnc", checkpoint)
	}
	return nil
}

// notInput refuses to write over a file that is read.
func notInput(output string, inputs ...string) error {
	there, err := os.Stat(output)
	if err != nil {
		return nil // a new file
	}
	for _, input := range inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(there, read) {
			return misuse("-o %s is the input %s, which would be lost; give the result another name", output, input)
		}
	}
	return nil
}
