package strip

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/doctor"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/train"
)

// Options say what is stripped, and to where.
type Options struct {
	Inputs []string // one checkpoint; several are those of the ranks of one run
	Output string   // .bnm, .pth, .pt or .safetensors: the ending picks the form
	File   modelfile.Options
}

// Template reports whether the output is a template, not a file of tensors.
func (o *Options) Template() bool { return strings.EqualFold(filepath.Ext(o.Output), ".bnm") }

// Report is what was taken off, and what is left.
type Report struct {
	Inputs       []string          `json:"inputs"`
	Format       string            `json:"format"` // of the inputs
	Output       string            `json:"output"`
	SHA256       string            `json:"sha256"`       // of the output, in hex
	Architecture string            `json:"architecture"` // "": not known
	Parameters   int               `json:"parameters"`
	Replicas     int               `json:"replicas"`
	Removed      modelfile.Removed `json:"removed"`
	BN           Norms             `json:"bn"`
	modelfile.Taken
	// Model is what was written; nil: tensors, of no known architecture.
	Model *models.Model `json:"-"`
	// Doubtful are tensors that were kept, though they plainly are no layer's.
	Doubtful []string          `json:"-"`
	Findings []formats.Finding `json:"-"` // what is odd about the inputs
	Sick     doctor.Sickness   `json:"-"` // what is wrong with what was written
}

// Norms is what is left of the batch norms.
type Norms struct {
	Layers int    `json:"layers"`
	Merged string `json:"merged"` // how the replicas' statistics became one
	Health string `json:"health"` // as doctor.Health has it
	// what doctor warns of
	Warnings int `json:"warnings"`
}

// NoTemplate says that the output was to be a template, and that none can be
// made of the inputs. Their tensors can be written all the same.
type NoTemplate struct{ Err error }

func (e *NoTemplate) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NoTemplate) Unwrap() error { return e.Err }

// Files strips the inputs and writes the output, which replaces a file of that
// name only when it is complete. Three things might happen besides:
//  1. The options ask for what cannot be: the error is a *problem.Error.
//  2. No template can be made of the file of another program: the error is a
//     *NoTemplate.
//  3. Anything else is wrong with the files. The error says what.
func Files(o Options) (*Report, error) {
	if len(o.Inputs) == 0 {
		return nil, problem.New("inputs", "", "strip needs a checkpoint", "")
	}
	ours, err := modelfile.Own(o.Inputs[0])
	if err != nil {
		return nil, err
	}
	if ours {
		return own(o)
	}
	return foreign(o)
}

// own strips a checkpoint of bnctl.
func own(o Options) (*Report, error) {
	if n := len(o.Inputs); n > 1 {
		return nil, problem.New("", "", strconv.Itoa(n)+" checkpoints: several are for the ranks of a run of "+
			"another program", "a .bnc holds a whole run")
	}
	m, removed, err := modelfile.Strip(o.Inputs[0], o.File)
	if err != nil {
		return nil, err
	}
	r := &Report{Format: "bnc", Replicas: removed.Replicas, Removed: *removed, Model: m,
		BN: Norms{Layers: len(formats.ModelNorms(m)), Merged: string(o.File.Merge)}}
	if o.File.Merge == "" {
		r.BN.Merged = merged(m)
	}
	return r, r.write(o, nil)
}

// merged says how the running statistics of the replicas became one: the
// mode, or the rule, of the recipe.
func merged(m *models.Model) string {
	r, err := train.ParseRecipe(m.Recipe)
	switch {
	case err != nil:
		return "unknown"
	case r.BN == "replica":
		return string(r.BNStats)
	}
	return string(r.BN)
}

// write writes the model, or without one the tensors, and completes the report.
func (r *Report) write(o Options, tensors []formats.Tensor) (err error) {
	r.Inputs, r.Output = o.Inputs, o.Output
	if r.Model != nil {
		r.Architecture, r.Parameters = r.Model.Architecture, r.Model.Summary().Parameters
		r.Sick = doctor.Of(r.Model)
		r.SHA256, err = formats.SaveModel(o.Output, r.Model)
	} else {
		if tensors, err = r.Sick.Watch(tensors); err != nil {
			return err
		}
		r.SHA256, err = formats.Save(o.Output, tensors)
	}
	r.BN.Health, r.BN.Warnings = r.Sick.Health()
	return err
}
