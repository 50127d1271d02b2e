// Package export writes the model of a file for other programs: ONNX, safetensors or
// PyTorch.
//
// Use it for files; it returns a report of the output. For a model in memory use
// formats.Export and formats.FoldProven, which it calls.
package export

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
)

// Options define the output and its format.
type Options struct {
	Input, Output string         // files
	Format        string         // "onnx", "safetensors" or "torch"; "": by the extension of Output
	Opset         int            // ONNX's operator set; 0: formats.NewestOpset
	FoldBN        bool           // make every batch norm part of the layer before it
	Suppress      *cells.Options // the file of a detector ends in non-maximum suppression: see formats
	File          modelfile.Options
	Fleet         fleet.Options // with FoldBN: devices that run both models, to compare them
	// OnOpen is called with the parts used of the file, nil for a bnctl file. It may be
	// nil.
	OnOpen func(*modelfile.Choice)
}

// Report describes the file that was written.
type Report struct {
	Input        string `json:"input"`
	Output       string `json:"output"`
	SHA256       string `json:"sha256"` // SHA-256 of the output, in hex
	Architecture string `json:"architecture"`
	Parameters   int    `json:"parameters"`
	formats.Proof
	// Temperature is set for a calibrated model without a graph in the file: the scaling is
	// lost. Otherwise it is 0.
	Temperature float64          `json:"lost_temperature,omitempty"`
	Format      string           `json:"-"` // format of the output
	FoldBN      bool             `json:"-"` // Options.FoldBN
	Model       *models.Model    `json:"-"` // model as written
	Sick        doctor.Diagnosis `json:"-"` // faults of the input
}

// Lines describes the result for people.
func (r *Report) Lines() (lines []string) {
	if r.FoldBN {
		lines = append(lines, fmt.Sprintf("folded %s; outputs differ by at most %.2g of the largest (%.2g of %.2g)",
			problem.Plural(len(r.Folded), "batch norm"), r.Relative(), r.MaxDifference, r.LargestOutput))
	}
	for i, name := range r.Unfolded {
		lines = append(lines, fmt.Sprintf("kept %s: %s", name, r.Why[i]))
	}
	return append(lines, fmt.Sprintf("wrote %s  sha256 %s  (%s, %s)", r.Output, r.SHA256, r.Architecture,
		problem.Plural(r.Parameters, "parameter")))
}

// formatNames are the values of Options.Format.
var formatNames = []string{"onnx", "safetensors", "torch"}

// File writes the model of o.Input to o.Output. If options contradict each other it returns
// a *problem.Error before it reads anything.
func File(ctx context.Context, o Options) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := cmp.Or(regular.NotInput(o.Output, o.Input), regular.Writable(o.Output)); err != nil {
		return nil, err
	}
	opened, err := modelfile.Open(o.Input, o.File)
	if err != nil {
		return nil, err
	}
	if o.OnOpen != nil {
		o.OnOpen(opened.Choice)
	}
	r := &Report{Input: o.Input, Output: o.Output, Proof: formats.NotFolded(), Format: o.Format,
		FoldBN: o.FoldBN, Model: opened.Model, Sick: doctor.Diagnose(opened.Model)}
	if o.FoldBN {
		if r.Model, r.Proof, err = formats.FoldProven(r.Model, predict.Runner(ctx, o.Fleet)); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Input, err)
		}
	}
	if t := r.Model.Temperature(); t != 1 && o.Format != "onnx" {
		r.Temperature = t
	}
	r.Architecture, r.Parameters = r.Model.Architecture, r.Model.Summary().Parameters
	r.SHA256, err = formats.Export(o.Output, r.Model, formats.ExportOptions{Format: o.Format, Opset: o.Opset,
		Suppress: o.Suppress})
	return r, err
}

// check determines the format. It refuses unknown formats, and options that do not apply to
// the format.
func (o *Options) check() error {
	if o.Format == "" {
		o.Format = formats.ExportFormat(o.Output)
	}
	switch {
	case !slices.Contains(formatNames, o.Format):
		e := problem.New("to", fmt.Sprintf("%q", o.Format), "want one of "+strings.Join(formatNames, ", "), "")
		e.Known = formatNames
		return e
	case o.Format != "onnx" && o.Opset != 0:
		return problem.New("", "", "{opset} is for ONNX, this writes "+o.Format, "")
	case o.Format != "onnx" && o.Suppress != nil:
		return problem.New("", "", "{nms} is for ONNX, this writes "+o.Format, "")
	case o.Opset != 0 && (o.Opset < formats.OldestOpset || o.Opset > formats.NewestOpset):
		return problem.New("opset", fmt.Sprint(o.Opset),
			fmt.Sprintf("want %d to %d", formats.OldestOpset, formats.NewestOpset), "")
	}
	return nil
}
