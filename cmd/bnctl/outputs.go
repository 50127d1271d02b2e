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
		if err := serialize.Writable(path); err != nil {
			return err
		}
		if err := notInput(path, t.c.String("model"), t.c.String("init")); err != nil {
			return err
		}
		unlock, err := serialize.Lock(path)
		if err != nil {
			return err
		}
		t.unlock = append(t.unlock, unlock)
	}
	return t.mayReplace(checkpoint)
}

// mayReplace refuses to write over the checkpoint of another run, unless it is asked to.
func (t *trainer) mayReplace(path string) error {
	if _, err := os.Stat(path); err != nil || t.c.Bool("overwrite") {
		return nil
	}
	if t.checkpoint != nil {
		there, err1 := os.Stat(path)
		read, err2 := os.Stat(resumedFrom(t.c))
		if err1 == nil && err2 == nil && os.SameFile(there, read) {
			return nil // the run goes on in it
		}
	}
	advice := fmt.Sprintf("go on with it by --resume %s, give this run another -o or --checkpoint, "+
		"or add --overwrite", path)
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		return misuse("%s is there, and is no checkpoint that this run could replace (%v); give this run another "+
			"-o or --checkpoint, or add --overwrite", path, err)
	}
	was, err := train.ParseRecipe(k.Recipe)
	if err != nil {
		return misuse("%s is the checkpoint of another run (%v); %s", path, err, advice)
	}
	now := *t.recipe
	now.Kernels = was.Kernels // that of the devices, which are not open yet
	if diff := now.Differences(was); len(diff) > 0 {
		return misuse("%s is the checkpoint of another run: %s%s; %s", path, diff[0], more(len(diff)-1), advice)
	}
	return nil
}

// more says that there are others.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s", counted(n, "more difference"))
}
