package doctor

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe/progress"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Report has the findings of a file.
type Report struct {
	Path          string
	Norms         []bn.Norm         // batch norms of the file, for bn.Examine
	otherFindings []bn.Finding      // about tensors other than statistics
	NonFinite     []string          // weights that are not finite
	GraphFaults   []string          // faults of the graph, with advice
	Choice        *modelfile.Choice // parts used of a foreign file; nil for a bnctl file
}

// Findings returns all findings, those about statistics first.
func (p *Report) Findings() []bn.Finding {
	return append(append([]bn.Finding{}, bn.Examine(p.Norms)...), p.otherFindings...)
}

// Add adds findings about the maps of the model, the values that its layers compute.
func (p *Report) Add(list []bn.Finding) { p.otherFindings = append(p.otherFindings, list...) }

// Examine reads the file of a model and reports its findings; findings are not errors. It
// does not need the architecture, but finds more with o.Arch or an architecture of the zoo.
func Examine(path string, o modelfile.Options) (*Report, error) {
	native, err := modelfile.CheckNative(path, o)
	if err != nil {
		return nil, err
	}
	p := &Report{Path: path}
	if native && o.Size != (models.Size{}) {
		return nil, problem.New("size", o.Size.Sides(), "means nothing here: "+path+" is a file of bnctl",
			"leave it out")
	}
	if native {
		return p, p.readNative()
	}
	f, err := modelfile.OpenForeign(path, o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if len(f.Tensors) == 0 { // an empty file must not be reported as healthy
		return nil, fmt.Errorf("%s: no tensors in this file (%s): there is nothing to look at", path, f.Format)
	}
	if err := p.readForeign(f, o); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.Choice = modelfile.NewChoice(path, f, o)
	return p, nil
}

// ExamineModel does the same as Examine for a model in memory. path is only the name in the
// report.
func ExamineModel(path string, m *models.Model) *Report {
	p := &Report{Path: path}
	p.addModel(m)
	return p
}

// readNative reads a template, or the template and the counters of a checkpoint.
func (p *Report) readNative() error {
	f, err := serialize.Open(p.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Kind == serialize.Template {
		m, err := f.Model()
		if err != nil {
			return err
		}
		p.addModel(m.Clone()) // the file will be closed
		return nil
	}
	k, err := f.Checkpoint()
	if err != nil {
		return err
	}
	m, _, err := serialize.Strip(k)
	if err != nil {
		return err
	}
	if _, err := progress.LagOf(k); err != nil { // an invalid recipe or invalid weights
		return err
	}
	p.addModel(m.Clone())
	if set := k.Set(serialize.SetRunning); set != nil && len(set.Updates) == len(p.Norms) {
		for i, n := range set.Updates {
			p.Norms[i].Updates = n
		}
	}
	return nil
}

// addModel adds the batch norms and the findings of a model in memory.
func (p *Report) addModel(m *models.Model) {
	p.Norms = formats.ModelNorms(m)
	p.image(m)
	p.bytes(m)
	for _, name := range weightsOf(m.Graph) {
		p.weight(name, m.State[name])
	}
}

// readForeign reads the file of another program. If --arch or the zoo gives the
// architecture, the file is compared with it as well.
func (p *Report) readForeign(f *formats.File, o modelfile.Options) error {
	as, err := modelfile.Architecture(f, o)
	if err != nil {
		return err
	}
	if as == nil && f.Model == nil {
		as = zooModel(f)
	}
	if p.Norms, err = formats.Norms(f); err != nil {
		return err
	}
	for _, n := range f.Findings {
		if n.Fault {
			p.GraphFaults = append(p.GraphFaults, n.Advice)
			p.otherFindings = append(p.otherFindings, bn.Finding{Layer: n.Where, Severity: bn.Fault, Problem: n.Text,
				Advice: n.Advice})
		}
		if n.Warning {
			p.otherFindings = append(p.otherFindings, bn.Finding{Layer: n.Where, Severity: bn.Warning,
				Problem: n.Text, Advice: n.Advice})
		}
	}
	if f.Model != nil {
		p.image(f.Model)
		p.bytes(f.Model)
	}
	if err := p.weights(f); err != nil {
		return err
	}
	if as != nil {
		return p.compare(f, as)
	}
	return nil
}

// zooModel returns the architecture of the zoo that fits a file, with or without its
// statistics, or nil if the zoo has no match.
func zooModel(f *formats.File) *models.Model {
	if as, err := formats.Identify(f); err == nil {
		return as
	}
	if as, err := formats.IdentifyIncomplete(f); err == nil {
		return as
	}
	return nil
}

// weights examines all tensors of a file except those that belong to batch norms.
func (p *Report) weights(f *formats.File) error {
	skip := map[string]bool{}
	for _, n := range formats.BatchNorms(f) {
		skip[n.Mean], skip[n.Variance], skip[n.Gamma] = true, true, true
	}
	if f.Model != nil {
		for _, s := range f.Model.Graph.State {
			skip[s.Name] = true
		}
		for _, name := range weightsOf(f.Model.Graph) {
			skip[name] = false
		}
	}
	for _, t := range f.Tensors {
		if skip[t.Name] {
			continue
		}
		v, err := t.Load()
		if err != nil {
			return err
		}
		p.weight(t.Name, v)
	}
	return nil
}

// weight adds a finding about a tensor that is not finite.
func (p *Report) weight(name string, t tensor.Tensor) {
	n, first := notFinite(t)
	if n == 0 {
		return
	}
	p.NonFinite = append(p.NonFinite, name)
	p.otherFindings = append(p.otherFindings, bn.Finding{Layer: name, Severity: bn.Fault,
		Advice: "take an earlier checkpoint",
		Problem: fmt.Sprintf("%d of %s are not finite, the first of them element %d", n,
			problem.Plural(t.Count(), "element"), first)})
}

// compare sets the decay of batch norms from their architecture, and adds findings about statistics
// that are missing or have another shape.
func (p *Report) compare(f *formats.File, arch *models.Model) error {
	layers, err := bn.Layers(arch.Graph.Main)
	if err != nil {
		return err
	}
	known, decay := map[string]bool{}, map[string]float64{}
	for _, l := range layers {
		decay[strings.TrimSuffix(l.Mean, ".running_mean")] = l.Decay
	}
	for i, n := range p.Norms {
		known[n.Name] = true
		p.Norms[i].Decay = decay[n.Name]
	}
	for _, name := range formats.Complete(f, arch) {
		if layer := name[:strings.LastIndexAny(name, "./")+1]; !known[strings.TrimRight(layer, "./")] {
			p.otherFindings = append(p.otherFindings, bn.Stale(name,
				"missing, or of another shape than in "+arch.Architecture))
		}
	}
	return nil
}
