package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/recipefile"
	"github.com/bnctl/bnctl/internal/legible"
)

// runFiles returns the files of a run, before it is known whether the run is resumed. With --resume auto, and
// without flags that name files, these are the files that a new run would write.
func runFiles(c *cli.Context) bnctl.TrainOptions {
	o := bnctl.TrainOptions{Resume: c.String("resume"), Checkpoint: c.String("checkpoint"),
		Output: c.String("output")}
	if o.Resume == "auto" && o.Checkpoint == "" && o.Output == "" {
		o.Output, _ = defaultOutput(c.String("model")) // if this fails, a new run reports the error
	}
	return o
}

// defaultOutput returns the default path of the template: a file in the current folder with
// the name of the model. It is an error if this is the file of the model itself.
func defaultOutput(model string) (string, error) {
	name := filepath.Base(model)
	path := strings.TrimSuffix(name, filepath.Ext(name)) + ".bnm"
	there, err1 := os.Stat(path)
	source, err2 := os.Stat(model)
	if err1 == nil && err2 == nil && os.SameFile(there, source) {
		return "", misadvise("give it a name with --output",
			"without --output the template would be written over --model %s", model)
	}
	return path, nil
}

// quoted returns a path quoted for a shell.
func quoted(path string) string { return legible.ShellWord(path) }

// resumeCommand returns the command that resumes the run of a checkpoint as it was started, with those flags
// that the checkpoint does not contain.
func resumeCommand(c *cli.Context, checkpoint string) string {
	text := "bnctl train --resume " + quoted(checkpoint)
	for _, word := range recipefile.Words(c, runFlags(), "data", "val", "output", "overwrite") {
		text += " " + quoted(word)
	}
	return text
}
