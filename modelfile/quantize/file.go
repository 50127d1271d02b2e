package quantize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parts"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// Options select the model, its samples and the settings of quantisation.
type Options struct {
	Input, Output string   // files
	Keep          []string // patterns (path.Match) of names of nodes that stay float32
	// Data contains the samples to measure ranges on. Labels are not needed. The caller
	// closes it.
	Data data.Source
	// Source names the samples if Data is nil: a spec for data.Open, or a folder of
	// pictures, picture files or arrays without labels. Without Data and Source, ranges
	// come from the batch norms.
	Source  string
	Samples int    // maximum number of samples; 0: all
	Method  string // "least-squares", "percentile" or "minmax"; "": the method with the least loss
	Batch   int    // samples at once; 0: 128
	Workers int    // goroutines that read; 0: one for each core
	Fleet   fleet.Options
	Opened  *fleet.Fleet // open fleet that is used instead of Fleet: see predict.Options.Opened
	Follow  Follow       // changes during training, for Trainable and Rebuild
	File    modelfile.Options
	// Note is called with messages about the data, with options in braces. OnOpen is called
	// with the parts used of a file of another program. Both may be nil.
	Note   func(format string, args ...any)
	OnOpen func(*modelfile.Choice)
}

// Report describes the template that was written.
type Report struct {
	Input   string  `json:"input"`
	Output  string  `json:"output"`
	SHA256  string  `json:"sha256"`            // SHA-256 of the output, in hexadecimal
	By      string  `json:"by"`                // "batch norm", or the method
	Samples int     `json:"samples,omitempty"` // number of samples used to measure ranges
	Before  int     `json:"bytes_before"`      // size of all weights in bytes, before and after
	After   int     `json:"bytes"`
	Layers  []Layer `json:"layers"`
	// Warnings are about layers that lose much.
	Warnings []Warning     `json:"warnings,omitempty"`
	Model    *models.Model `json:"-"` // model as written

	measured *samples // nil without samples
}

// File writes the int8 template of the model of o.Input to o.Output.
func File(ctx context.Context, o Options) (*Report, error) {
	if o.Method != "" && !slices.Contains(methods(), o.Method) {
		e := problem.New("method", fmt.Sprintf("%q", o.Method), "want one of "+strings.Join(methods(), ", "), "")
		e.Known = methods()
		return nil, e
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
	r := &Report{Input: o.Input, Output: o.Output, By: "batch norm", Before: opened.Model.Summary().Bytes}
	b, err := r.quantize(ctx, opened.Model, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Input, err)
	}
	r.Model, r.Layers, r.After = b.Model, b.layers, b.Model.Summary().Bytes
	r.Warnings = append(b.warnings, noisyLayers(b.layers)...)
	for _, w := range r.Warnings {
		r.note(o, "%s: %s; %s", w.Layer, w.Text, w.Advice)
	}
	r.Model.Quantised = &models.Quantised{By: r.By, Samples: r.Samples, Numbers: r.numbers()}
	if r.Model.Quantised.From, err = modelfile.Digest(o.Input); err != nil {
		return nil, err
	}
	r.SHA256, err = serialize.WriteModel(o.Output, r.Model)
	return r, err
}

// quantize makes the template.
func (r *Report) quantize(ctx context.Context, m *models.Model, o Options) (*built, error) {
	p, err := prepare(m, o.Keep)
	if err != nil {
		return nil, err
	}
	if o.Data == nil && o.Source == "" {
		if err := trusts(m, o.Note); err != nil {
			return nil, err
		}
		b, err := p.byNorms()
		if err == nil && len(p.stats.norms) == 0 {
			r.By = byWeights
			r.note(o, "the model has no batch norms, or they are folded: ranges are computed from weights and "+
				"biases, and the template loses more than with samples; give some with {data}")
		}
		return b, err
	}
	s, err := readSamples(ctx, m, o)
	if err != nil {
		return nil, err
	}
	r.Samples = s.count
	b, by, err := p.bySamples(ctx, s, o.Method)
	r.By, r.measured = by, s
	return b, err
}

// numbers returns the kernel classes and parts that the template depends on, with their
// numbers: "int8/1".
func (r *Report) numbers() []string {
	all, quantise := class.Numbered(class.Int8Class, device.F32), parts.Number("quantise")
	if s := r.measured; s != nil {
		return slices.Concat(all, s.classes, s.numbers, []string{quantise})
	}
	return append(all, quantise)
}

// Lines describes each layer of the result and the output, for people.
func (r *Report) Lines() []string {
	width := len("layer")
	for _, l := range r.Layers {
		width = max(width, len(l.Name))
	}
	lines := []string{fmt.Sprintf("%-*s  %9s  %9s  %23s  %-22s  %9s  %9s", width, "layer", "products", "bytes",
		"range", "from", "weights", "result")}
	for _, l := range r.Layers {
		line := fmt.Sprintf("%-*s  %7.2f M  %9d  ", width, l.Name, float64(l.Products)/1e6, l.Bytes)
		if l.Float {
			lines = append(lines, line+"float32: "+l.Why)
			continue
		}
		line += fmt.Sprintf("%23s  %-22s  %6.1f dB", l.span(), l.from(), l.WeightNoise)
		if noise := cmp.Or(l.Noise, l.Expected); noise != 0 {
			line += fmt.Sprintf("  %6.1f dB", noise)
		}
		lines = append(lines, line)
	}
	return append(lines, fmt.Sprintf("%d bytes of state, before %d; ranges by %s", r.After, r.Before,
		r.methodText()),
		fmt.Sprintf("wrote %s  sha256 %s", r.Output, r.SHA256))
}

// byWeights is Report.By for a model without batch norms and without samples.
const byWeights = "weights"

// note passes a message on to the caller.
func (r *Report) note(o Options, format string, args ...any) {
	if o.Note != nil {
		o.Note(format, args...)
	}
}

func (r *Report) methodText() string {
	if r.By == byWeights {
		return "the weights, without data"
	}
	if r.Samples == 0 {
		return "the batch norms, without data"
	}
	return r.By + " over " + problem.Plural(r.Samples, "sample")
}
