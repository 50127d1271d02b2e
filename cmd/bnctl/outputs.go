package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
)

// trainEndings refuses names of files that say they are something else.
func trainEndings(c *cli.Context) error {
	output, checkpoint := c.String("output"), c.String("checkpoint")
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

// claim makes sure that a run may write its files, and locks them until it ends.
func (t *trainer) claim() error {
	checkpoint := checkpointPath(t.c, t.paths.Output)
	for _, path := range []string{t.paths.Output, checkpoint} {
		if err := notInput(path, t.c.String("model"), t.c.String("init")); err != nil {
			return err
		}
	}
	release, err := serialize.Claim(t.paths.Output, checkpoint)
	if err != nil {
		return err
	}
	t.release = release
	if t.c.Bool("overwrite") || t.goesOnIn(checkpoint) {
		return nil
	}
	return train.Replaceable(checkpoint, t.recipe)
}

// goesOnIn reports whether the run writes the checkpoint that it resumes from.
func (t *trainer) goesOnIn(path string) bool {
	if t.checkpoint == nil {
		return false
	}
	there, err1 := os.Stat(path)
	read, err2 := os.Stat(resumedFrom(t.c))
	return err1 == nil && err2 == nil && os.SameFile(there, read)
}
