package inspect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/qat"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
)

// Options define how a file is read.
type Options struct {
	File   modelfile.Options // how a file of another program is read
	Verify bool              // read the whole file of another program; bnctl files are always verified
	// Graph makes it an error if the graph is not known.
	Graph bool
}

// Input is one of several inputs of a model.
type Input struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"` // shape of a sample
}

// Report describes a file.
type Report struct {
	Format       string             `json:"format"`
	Kind         string             `json:"kind"` // "template", "checkpoint" or "foreign"
	Architecture string             `json:"architecture"`
	Parameters   int                `json:"parameters"`
	Flops        float64            `json:"flops"` // flops of one prediction
	Input        string             `json:"input"`
	Inputs       []Input            `json:"inputs,omitempty"` // inputs of a model with several inputs
	Layers       []models.Layer     `json:"layers"`           // without a graph: the tensors
	Verified     bool               `json:"verified"`
	Recipe       json.RawMessage    `json:"recipe,omitempty"`
	BN           []Norm             `json:"bn"`
	Health       string             `json:"health,omitempty"`   // health of the batch norms of a foreign file
	Warnings     int                `json:"warnings,omitempty"` // number of warnings of package doctor
	TrainingOnly *modelfile.Removed `json:"training_only,omitempty"`
	Counters     []formats.Counter  `json:"counters,omitempty"` // counters of a foreign file: step, epoch
	Findings     []formats.Finding  `json:"findings,omitempty"` // remarks about a foreign file
	// Quantised lists the layers of a quantised foreign file
	Quantised []formats.QuantisedLayer `json:"quantised,omitempty"`
	// why the graph of a foreign file is not supported
	NoGraph string `json:"no_graph,omitempty"`
	modelfile.ChoiceReport
	Progress json.RawMessage `json:"progress,omitempty"`
	// the best epoch of a checkpoint, or of a template that has its weights
	Best *progress.Best `json:"best,omitempty"`
	// Temperature is the divisor of the logits after eval calibrated them; 0 if not
	// calibrated
	Temperature float64 `json:"temperature,omitempty"`
	// Thresholds has the least probability at which a label holds, for each label; nil without
	// thresholds
	Thresholds []float64 `json:"thresholds,omitempty"`
	// Int8 describes the source model of an int8 template
	Int8 *models.Quantised `json:"int8,omitempty"`
	// WeightsSum is the sum of the weights of a bnctl file: models.Model.WeightsSum. Chain is the digest of
	// the chain of its training.
	WeightsSum string `json:"weights_sha256,omitempty"`
	Chain      string `json:"chain,omitempty"`
	// Lag is set for a checkpoint with separate weights for each replica.
	Lag *progress.Lag `json:"lag,omitempty"`

	Model *models.Model `json:"-"` // with graph and labels, without weights; nil: not known
	// Graph is the graph in the file; the graph of a checkpoint has replica connections.
	// nil: not known.
	Graph   *graph.Graph `json:"-"`
	Tensors int          `json:"-"` // tensors of a foreign file
	Norms   int          `json:"-"` // batch norms of a foreign file, by its tensors
}

// BestLine names the best epoch and reports whether the template has its weights. For a
// checkpoint at path it also gives the command that makes a template of the best epoch,
// with options in braces.
func (r *Report) BestLine(path string) string {
	switch {
	case r.Kind == string(serialize.Template):
		return fmt.Sprintf("the weights are those of the best epoch on the validation data: %v", r.Best)
	case r.Best.Save != "last":
		return fmt.Sprintf("best on the validation data so far: %v; the template will be of the best epoch", r.Best)
	case !r.Best.Stored:
		return fmt.Sprintf("best on the validation data so far: %v; the template will be of the last epoch", r.Best)
	}
	return fmt.Sprintf("best on the validation data so far: %v; the template will be of the last epoch, "+
		"{strip} %s {epoch} best {output-file} best.bnm makes one of the best", r.Best, path)
}

// SumLine has the sum of the weights of a bnctl file; "" for other files.
func (r *Report) SumLine() string {
	if r.WeightsSum == "" {
		return ""
	}
	return "weights  sha256 " + r.WeightsSum
}

// Int8Line describes the source model of an int8 template; "" for other files.
func (r *Report) Int8Line() string {
	if r.Int8 == nil {
		return ""
	}
	ranges := "its batch norms"
	switch {
	case r.Int8.By == qat.By:
		ranges = "training for int8"
	case r.Int8.Samples > 0:
		ranges = r.Int8.By + " over " + problem.Plural(r.Int8.Samples, "sample")
	}
	line := fmt.Sprintf("int8, made of the model with sha256 %s; ranges by %s", r.Int8.From, ranges)
	if len(r.Int8.Numbers) > 0 {
		line += "; " + strings.Join(r.Int8.Numbers, ", ")
	}
	return line
}

// LagLine describes how far the weights of the replicas are from their average. It returns
// "" for a file without weights for each replica.
func (r *Report) LagLine() string {
	l := r.Lag
	if l == nil {
		return ""
	}
	return fmt.Sprintf("the template is the average of %s that have trained for %s since they were averaged; "+
		"their weights differ from it by at most %.3g (%s)", problem.Plural(l.Replicas, "replica"),
		problem.Plural(l.Steps, "step"), l.Largest, l.Tensor)
}

// TemperatureLine describes the calibration of probabilities. It returns "" if they were
// not calibrated.
func (r *Report) TemperatureLine() string {
	if r.Temperature == 0 {
		return ""
	}
	return fmt.Sprintf("probabilities are calibrated: logits are divided by the temperature %.4g", r.Temperature)
}

// ThresholdsLine lists the least probability at which each label holds. It returns ""
// without thresholds.
func (r *Report) ThresholdsLine() string {
	if r.Thresholds == nil {
		return ""
	}
	var all []string
	for k, t := range r.Thresholds {
		name := fmt.Sprint(k)
		if k < len(r.Model.Labels) {
			name = r.Model.Labels[k]
		}
		all = append(all, fmt.Sprintf("%s %.4g", name, t))
	}
	return "labels hold from these probabilities on: " + strings.Join(all, ", ")
}

// File describes the file at path.
func File(path string, o Options) (*Report, error) {
	native, err := modelfile.IsNative(path)
	if err != nil {
		return nil, err
	}
	if native {
		return inspectNative(path)
	}
	text, err := modelfile.ReadGraphText(path)
	if err != nil {
		return nil, err
	}
	if text != nil {
		return ofText(path, text)
	}
	return inspectForeign(path, o)
}

// Foreign reports whether a file is neither a bnctl file nor a graph in text form.
// Options.File applies to these files alone.
func Foreign(path string) (bool, error) {
	native, err := modelfile.IsNative(path)
	if native || err != nil {
		return false, err
	}
	text, err := modelfile.ReadGraphText(path)
	return text == nil, err
}

// ofText describes a graph in text form.
func ofText(path string, text []byte) (*Report, error) {
	g, err := graph.ParseGraph(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := models.New(g)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := &Report{Format: "text", Kind: string(serialize.Template), Verified: true, Graph: g}
	r.model(m)
	return r, nil
}

// inspectNative describes a template or a checkpoint of bnctl.
func inspectNative(path string) (*Report, error) {
	f, err := serialize.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Kind == serialize.Template {
		m, err := f.Model()
		if err != nil {
			return nil, err
		}
		r := &Report{Format: "bnm", Kind: string(f.Kind), Verified: true, Graph: m.Graph}
		r.model(m)
		if t := m.Temperature(); t != 1 {
			r.Temperature = t
		}
		r.Int8, r.Thresholds = m.Quantised, m.Thresholds
		if m.Best != nil {
			r.Best = &progress.Best{BestEpoch: *m.Best, Save: "best:" + m.Best.Figure, Stored: true}
		}
		return r, nil
	}
	return checkpoint(f)
}

func checkpoint(f *serialize.File) (*Report, error) {
	k, err := f.Checkpoint()
	if err != nil {
		return nil, err
	}
	m, removed, err := serialize.Strip(k)
	if err != nil {
		return nil, err
	}
	lag, err := progress.LagOf(k)
	if err != nil {
		return nil, err
	}
	r := &Report{Format: "bnc", Kind: string(f.Kind), Verified: true, Graph: k.Graph, Progress: k.Progress,
		TrainingOnly: modelfile.NewRemoved(&removed), Lag: lag, Best: progress.BestOf(k)}
	r.model(m)
	return r, nil
}

// model adds the description of m. It reads the weights now: the file may be closed
// afterwards.
func (r *Report) model(m *models.Model) {
	s := m.Summary()
	r.WeightsSum, r.Chain = m.WeightsSum(), m.Chain
	r.Architecture, r.Parameters, r.Flops = m.Architecture, s.Parameters, s.Flops
	r.Input, r.Layers, r.Recipe = s.Input, m.Layers(), m.Recipe
	for _, p := range m.Fields {
		r.Inputs = append(r.Inputs, Input{p.Name, p.DType.String(), append([]int{}, p.Shape...)})
	}
	if r.BN = []Norm{}; len(m.State) > 0 {
		r.BN = norms(formats.ModelNorms(m))
	}
	r.Model = &models.Model{Architecture: m.Architecture, Graph: m.Graph, Labels: m.Labels, Fields: m.Fields}
}
