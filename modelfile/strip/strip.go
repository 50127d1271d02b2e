package strip

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// Options define which files are stripped, and where the result is written.
type Options struct {
	Inputs []string // one checkpoint, or the checkpoints of the ranks of one run
	Output string   // .bnm, .pth, .pt or .safetensors: the extension decides the format
	File   modelfile.Options
}

// Template reports whether the output is a template, not a file of tensors.
func (o *Options) Template() bool { return strings.EqualFold(filepath.Ext(o.Output), ".bnm") }

// Report lists the removed parts and describes the output.
type Report struct {
	Inputs       []string          `json:"inputs"`
	Format       string            `json:"format"` // format of the inputs
	Output       string            `json:"output"`
	SHA256       string            `json:"sha256"`       // SHA-256 of the output, in hex
	Architecture string            `json:"architecture"` // "": not known
	Parameters   int               `json:"parameters"`
	Replicas     int               `json:"replicas"`
	Removed      modelfile.Removed `json:"removed"`
	BN           Norms             `json:"bn"`
	modelfile.ChoiceReport
	// Model is the model that was written; nil if only the tensors of an unknown
	// architecture were written.
	Model *models.Model `json:"-"`
	// Suspect are tensors that were kept although their names are not names of layers: see
	// formats.SuspectTensors.
	Suspect  []string          `json:"-"`
	Findings []formats.Finding `json:"-"` // remarks about the inputs
	Sick     doctor.Diagnosis  `json:"-"` // faults of the output
}

// Norms describes the batch norms of the output.
type Norms struct {
	Layers int    `json:"layers"`
	Merged string `json:"merged"` // rule that merged the replicas' statistics
	Health string `json:"health"` // "healthy", "odd" or "sick": see doctor.Health
	// number of warnings of package doctor
	Warnings int `json:"warnings"`
}

// NoTemplate is the error if the output should be a template but cannot be made from the
// inputs. Their tensors can still be written, to .pth or .safetensors.
type NoTemplate struct{ Err error }

func (e *NoTemplate) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NoTemplate) Unwrap() error { return e.Err }

// Files strips the inputs and writes the output. An existing file of that
// name is replaced only when the output is complete. There are three kinds of errors:
//  1. An option is invalid: the error is a *problem.Error.
//  2. No template can be made from the file of another program: the error is a
//     *NoTemplate.
//  3. Any other error is about the files.
func Files(o Options) (*Report, error) {
	if len(o.Inputs) == 0 {
		return nil, problem.New("inputs", "", "strip needs a checkpoint", "")
	}
	if err := cmp.Or(regular.NotInput(o.Output, o.Inputs...), regular.Writable(o.Output)); err != nil {
		return nil, err
	}
	native, err := modelfile.IsNative(o.Inputs[0])
	if err != nil {
		return nil, err
	}
	if native {
		return stripNative(o)
	}
	return stripForeign(o)
}

// stripNative strips a checkpoint of bnctl.
func stripNative(o Options) (*Report, error) {
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
	if removed.Stale {
		r.Findings = append(r.Findings, formats.Finding{Where: o.Inputs[0], Text: "the statistics are those of " +
			"the trained weights; the run's template gets others, which are estimated from its data",
			Advice: "to get them, end the run with train {resume} and {output}"})
	}
	return r, r.write(o, nil, nil)
}

// merged returns how the running statistics of the replicas were merged: the mode, or the
// rule, of the recipe.
func merged(m *models.Model) string {
	r, err := recipe.Parse(m.Recipe)
	switch {
	case err != nil:
		return "unknown"
	case r.BN == "replica":
		return string(r.BNStats)
	}
	return string(r.BN)
}

// write writes the model, or without one the tensors, and completes the report.
func (r *Report) write(o Options, tensors []formats.Tensor, labels []string) (err error) {
	r.Inputs, r.Output = o.Inputs, o.Output
	if r.Model != nil {
		r.Architecture, r.Parameters = r.Model.Architecture, r.Model.Summary().Parameters
		r.Sick = doctor.Diagnose(r.Model)
		r.SHA256, err = formats.SaveModel(o.Output, r.Model)
	} else {
		if tensors, err = r.Sick.Attach(tensors); err != nil {
			return err
		}
		r.SHA256, err = formats.Save(o.Output, tensors, labels...)
	}
	r.BN.Health, r.BN.Warnings = r.Sick.Health()
	return err
}
