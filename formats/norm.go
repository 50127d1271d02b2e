package formats

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// suffixes are what formats call the parts of a batch norm.
var suffixes = []struct{ mean, variance, gamma, count string }{
	{"running_mean", "running_var", "weight", "num_batches_tracked"},
	{"moving_mean", "moving_variance", "gamma", ""},
	{"moving_mean", "moving_var", "gamma", ""},
}

// BatchNorm names the tensors of a batch norm: "" where the file has none.
type BatchNorm struct {
	Name                         string // what the names have in common
	Mean, Variance, Gamma, Count string
}

// BatchNorms finds the batch norms of a file without a graph, by the names of
// their statistics, in the file's order. A layer that lacks its mean, its
// variance or both is listed too, if anything of its statistics is there.
func BatchNorms(tensors []Tensor) []BatchNorm {
	have := make(map[string]bool, len(tensors))
	for _, t := range tensors {
		have[t.Name] = true
	}
	var found []BatchNorm
	seen := map[string]bool{}
	for _, t := range tensors {
		if n, ok := normOf(t.Name, have); ok && !seen[n.Name] {
			seen[n.Name] = true
			found = append(found, n)
		}
	}
	return found
}

// normOf returns the batch norm that a tensor is a statistic, or the counter, of.
func normOf(name string, have map[string]bool) (BatchNorm, bool) {
	at := strings.LastIndexAny(name, "./") + 1
	base, last := name[:at], name[at:]
	for _, s := range suffixes {
		if last != s.mean && last != s.variance && (s.count == "" || last != s.count) {
			continue
		}
		n := BatchNorm{Name: strings.TrimRight(base, "./")}
		for _, part := range []struct {
			to     *string
			suffix string
		}{{&n.Mean, s.mean}, {&n.Variance, s.variance}, {&n.Gamma, s.gamma}, {&n.Count, s.count}} {
			if have[base+part.suffix] && part.suffix != "" {
				*part.to = base + part.suffix
			}
		}
		return n, true
	}
	return BatchNorm{}, false
}

// Norms returns the batch norms of a file, as bn.Examine takes them: those of
// its graph, or those that the names of its tensors tell.
func Norms(f *File) ([]bn.Norm, error) {
	if f.Model != nil {
		return graphNorms(f.Model), nil
	}
	byName := make(map[string]Tensor, len(f.Tensors))
	for _, t := range f.Tensors {
		byName[t.Name] = t
	}
	var norms []bn.Norm
	for _, l := range BatchNorms(f.Tensors) {
		n := bn.Norm{Name: l.Name, Updates: -1}
		for _, part := range []struct {
			to   *tensor.Tensor
			name string
		}{{&n.Mean, l.Mean}, {&n.Variance, l.Variance}, {&n.Gamma, l.Gamma}} {
			if part.name == "" {
				continue
			}
			var err error
			if *part.to, err = loadF32(byName[part.name]); err != nil {
				return nil, err
			}
		}
		if c, ok := byName[l.Count]; ok && c.DType == tensor.I64 && tensor.Count(c.Shape) == 1 {
			v, err := c.Load()
			if err != nil {
				return nil, err
			}
			n.Updates = v.I64()[0]
		}
		norms = append(norms, n)
	}
	return norms, nil
}

// graphNorms returns the batch norms of a graph.
func graphNorms(m *models.Model) []bn.Norm {
	var norms []bn.Norm
	f := m.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.BatchNorm {
			continue
		}
		state := func(k int) tensor.Tensor { return m.State[f.Values[n.In[k]].State] }
		norms = append(norms, bn.Norm{Name: f.NodeName(n), Gamma: state(1), Mean: state(3), Variance: state(4),
			Updates: -1, Decay: n.Float("decay")})
	}
	return norms
}

func loadF32(t Tensor) (tensor.Tensor, error) {
	v, err := t.Load()
	if err != nil {
		return v, err
	}
	if v, err = v.ToF32(); err != nil {
		return v, fmt.Errorf("%s: %w", t.Name, err)
	}
	return v, nil
}
