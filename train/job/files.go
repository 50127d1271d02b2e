package job

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// endings returns an error if the ending of a file's name is not right for a
// template (output) or a checkpoint. "" is right for both.
func endings(output, checkpoint string) error {
	if output != "" {
		if err := serialize.CheckName(output, serialize.Template); err != nil {
			return err
		}
	}
	if checkpoint != "" {
		return serialize.CheckName(checkpoint, serialize.Training)
	}
	return nil
}

// ResumedFrom returns the path of the checkpoint to resume: word itself, or, if
// word is "auto", the path to which the run writes its own checkpoints.
func ResumedFrom(word, checkpoint, output string) string {
	if word != "auto" {
		return word
	}
	return CheckpointBeside(checkpoint, output)
}

// CheckpointBeside returns the path for checkpoints: checkpoint, or if that is ""
// the name of the template with the ending .bnc.
func CheckpointBeside(checkpoint, output string) string {
	if checkpoint != "" || output == "" {
		return checkpoint
	}
	return strings.TrimSuffix(output, filepath.Ext(output)) + ".bnc"
}

// OutputBeside returns the default path of the template: a file in the current
// folder with the name of the model. It is an error if that is the file of the
// model itself.
func OutputBeside(model string) (string, error) {
	name := filepath.Base(model)
	path := strings.TrimSuffix(name, filepath.Ext(name)) + ".bnm"
	there, err1 := os.Stat(path)
	source, err2 := os.Stat(model)
	if err1 == nil && err2 == nil && os.SameFile(there, source) {
		return "", problem.New("", "", "without {output} the template would be written over {model} "+model,
			"give it a name with {output}")
	}
	return path, nil
}

// Word returns s quoted for a shell, if it needs quotes.
func Word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("0123456789_-./:,=+@%", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Write writes the template and returns the SHA-256 of the file. With several
// ranks only rank 0 writes, and all return when it has.
func (j *Job) Write(ctx context.Context, m *models.Model) (string, error) {
	sum := ""
	if !j.follows() {
		var err error
		if sum, err = serialize.WriteModel(j.Paths.Output, m); err != nil {
			return "", err
		}
	}
	if j.o.Peers == nil {
		return sum, nil
	}
	_, err := j.o.Peers.Share(context.WithoutCancel(ctx), nil)
	return sum, err
}
