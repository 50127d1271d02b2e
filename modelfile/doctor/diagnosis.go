package doctor

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Diagnosis has the batch norms and the faults of a model.
type Diagnosis struct {
	Norms       []bn.Norm
	NonFinite   []string // names of weights that are not finite
	GraphFaults []string // faults of the graph in the file
}

// Diagnose examines the batch norms and all weights of a model, on all cores.
func Diagnose(m *models.Model) Diagnosis {
	s := Diagnosis{Norms: formats.ModelNorms(m)}
	if text, _ := imageFault(m); text != "" {
		s.GraphFaults = append(s.GraphFaults, "image: "+text)
	}
	weights := weightsOf(m.Graph)
	counts := make([]int, len(weights))
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(weights); i = next.Add(1) - 1 {
				counts[i], _ = notFinite(m.State[weights[i]])
			}
		})
	}
	all.Wait()
	for i, name := range weights {
		if counts[i] > 0 {
			s.NonFinite = append(s.NonFinite, name)
		}
	}
	return s
}

// weightsOf returns the names of trained tensors, except for the gammas of batch norms,
// which are examined with their statistics. The gammas of norms without statistics are
// included.
func weightsOf(g *graph.Graph) []string {
	gammas := map[string]bool{}
	for i := range g.Main.Nodes {
		if n := &g.Main.Nodes[i]; n.Op == graph.BatchNorm {
			gammas[g.Main.Values[n.In[1]].State] = true
		}
	}
	var names []string
	for _, s := range g.State {
		if s.Role.Trained() && !gammas[s.Name] {
			names = append(names, s.Name)
		}
	}
	return names
}

func (s *Diagnosis) weight(name string, t tensor.Tensor) {
	if n, _ := notFinite(t); n > 0 {
		s.NonFinite = append(s.NonFinite, name)
	}
}

// Health returns "healthy", "odd" (there are only warnings) or "sick", and the number
// of warnings.
func (s *Diagnosis) Health() (word string, warnings int) {
	word, warnings = Health(s.Norms)
	if len(s.NonFinite)+len(s.GraphFaults) > 0 {
		word = "sick"
	}
	return word, warnings
}

// Faults returns a sentence for each fault, layer by layer.
func (s *Diagnosis) Faults() []string {
	all := slices.Clone(s.GraphFaults)
	for _, f := range bn.Examine(s.Norms) {
		if f.Severity == bn.Fault {
			all = append(all, f.Layer+": "+f.Problem)
		}
	}
	for _, name := range s.NonFinite {
		all = append(all, name+": values that are not finite")
	}
	return all
}

// Attach returns the same tensors with an examination attached: each is examined when it is
// read, so that a file larger than memory is read only once. When all tensors have been
// read, s contains the faults.
func (s *Diagnosis) Attach(tensors []formats.Tensor) ([]formats.Tensor, error) {
	skip := map[string]bool{}
	for _, n := range formats.BatchNorms(&formats.File{Tensors: tensors}) {
		skip[n.Mean], skip[n.Variance], skip[n.Gamma] = true, true, true
	}
	out := slices.Clone(tensors)
	for i, t := range tensors {
		if skip[t.Name] {
			continue
		}
		var err error
		out[i], err = formats.NewTensor(t.Name, t.DType, t.Shape, func(dst []byte) error {
			if err := t.ReadInto(dst); err != nil {
				return err
			}
			s.weight(t.Name, tensor.Tensor{DType: t.DType, Shape: t.Shape, Bytes: dst})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return out, nil
}

// Health returns "healthy", "odd" (there are only warnings) or "sick" for the findings of
// bn.Examine in norms, and the number of warnings.
func Health(norms []bn.Norm) (word string, warnings int) {
	word = "healthy"
	for _, f := range bn.Examine(norms) {
		switch {
		case f.Severity == bn.Fault:
			word = "sick"
		case word == "healthy":
			word = "odd"
			fallthrough
		default:
			warnings++
		}
	}
	return word, warnings
}
