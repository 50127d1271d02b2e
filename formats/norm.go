package formats

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// nameSuffixes are the ends of the names of a batch norm's tensors.
type nameSuffixes struct{ mean, variance, gamma, beta, count string }

// suffixes are the names that formats give to the parts of a batch norm, after the name of
// the layer.
var suffixes = []nameSuffixes{
	{"running_mean", "running_var", "weight", "bias", "num_batches_tracked"},
	{"moving_mean", "moving_variance", "gamma", "beta", ""},
	{"moving_mean", "moving_var", "gamma", "beta", ""},
	{"moving_mean:0", "moving_variance:0", "gamma:0", "beta:0", ""},
	{"_running_mean", "_running_std", "_gamma", "_beta", ""}, // Keras 1; running_std is the variance
}

// BatchNorms returns the batch norms of a file, in the file's order. They come from the
// graph that the file describes or, without one, from the names of its tensors. A layer
// without mean or variance is listed too if the file has any of its other statistics, for
// example the counter.
func BatchNorms(f *File) []BatchNorm {
	if f.Norms != nil {
		return f.Norms
	}
	return normsByName(f.Tensors)
}

func normsByName(tensors []Tensor) []BatchNorm {
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

// normOf returns the batch norm to which a tensor belongs as a statistic or as the counter.
func normOf(name string, have map[string]bool) (BatchNorm, bool) {
	if n, ok := numberedNorm(name, have); ok {
		return n, true
	}
	base, p, ok := splitStatistic(name)
	if !ok {
		return BatchNorm{}, false
	}
	n := BatchNorm{Name: strings.TrimRight(base, "./")}
	for _, name := range []struct {
		to     *string
		suffix string
	}{{&n.Mean, p.mean}, {&n.Variance, p.variance}, {&n.Gamma, p.gamma}, {&n.Beta, p.beta},
		{&n.Count, p.count}} {
		if have[base+name.suffix] && name.suffix != "" {
			*name.to = base + name.suffix
		}
	}
	return n, true
}

// numberedNorm returns a batch norm of Keras 3. It is recognised by the name of its class
// and its tensors are numbered: gamma and beta first, but each may be absent.
func numberedNorm(name string, have map[string]bool) (BatchNorm, bool) {
	at := strings.LastIndex(name, "vars/")
	if at < 0 || !strings.HasPrefix(lastPart(name[:at]), "batch_normalization") {
		return BatchNorm{}, false
	}
	vars := func(i int) string { return name[:at] + "vars/" + strconv.Itoa(i) }
	count := 0
	for have[vars(count)] {
		count++
	}
	if count < 2 || count > 4 {
		return BatchNorm{}, false
	}
	n := BatchNorm{Name: strings.TrimRight(name[:at], "./"), Mean: vars(count - 2), Variance: vars(count - 1)}
	if count == 4 {
		n.Gamma, n.Beta = vars(0), vars(1)
	}
	return n, true
}

// splitStatistic splits the name of a statistic or a counter into the name of the layer,
// with its separator, and the format's names for the parts of the layer.
func splitStatistic(name string) (base string, p nameSuffixes, ok bool) {
	for _, p := range suffixes {
		for _, end := range []string{p.mean, p.variance, p.count} {
			base, ok := strings.CutSuffix(name, end)
			separate := base == "" || strings.HasPrefix(end, "_") || strings.ContainsAny(base[len(base)-1:], "./")
			if ok && end != "" && separate {
				return base, p, true
			}
		}
	}
	return "", nameSuffixes{}, false
}

// Parameters counts the elements of a file's tensors, without running statistics, their
// counters, and tensors marked as not being weights.
func Parameters(f *File) int {
	if f.Model != nil {
		return f.Model.Summary().Parameters
	}
	skip := map[string]bool{}
	for _, n := range BatchNorms(f) {
		skip[n.Mean], skip[n.Variance], skip[n.Count] = true, true, true
	}
	n := 0
	for _, t := range f.Tensors {
		if !skip[t.Name] && f.Marks[t.Name] == 0 {
			n += tensor.Count(t.Shape)
		}
	}
	return n
}

// lastPart returns the last component of a name that ends with a separator.
func lastPart(base string) string {
	base = strings.TrimRight(base, "./")
	return base[strings.LastIndexAny(base, "./")+1:]
}

// Norms returns the batch norms of a file, for bn.Examine. They come from its graph or,
// without one, from the names of its tensors.
func Norms(f *File) ([]bn.Norm, error) {
	if f.Model != nil {
		return ModelNorms(f.Model), nil
	}
	byName := make(map[string]Tensor, len(f.Tensors))
	for _, t := range f.Tensors {
		byName[t.Name] = t
	}
	var norms []bn.Norm
	for _, l := range BatchNorms(f) {
		n := bn.Norm{Name: l.Name, Updates: -1, Eps: l.Eps, Decay: l.Decay}
		for _, name := range []struct {
			to   *tensor.Tensor
			name string
		}{{&n.Mean, l.Mean}, {&n.Variance, l.Variance}, {&n.Gamma, l.Gamma}, {&n.Beta, l.Beta}} {
			if name.name == "" {
				continue
			}
			var err error
			if *name.to, err = loadF32(byName[name.name], nil); err != nil {
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

// ModelNorms returns the batch norms of a model, for bn.Examine.
func ModelNorms(m *models.Model) []bn.Norm {
	var norms []bn.Norm
	f := m.Graph.Main
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op != graph.BatchNorm {
			continue
		}
		state := func(k int) tensor.Tensor { return m.State[f.Values[n.In[k]].State] }
		norms = append(norms, bn.Norm{Name: f.NodeName(n), Gamma: state(1), Beta: state(2), Mean: state(3),
			Variance: state(4), Updates: -1, Eps: n.Float("eps"), Decay: n.Float("decay")})
	}
	return norms
}

// loadF32 loads a tensor of floats as float32. If the tensor has that type already, loadF32
// uses memory of r.
func loadF32(t Tensor, r *tensor.Region) (tensor.Tensor, error) {
	v, err := t.LoadIn(r)
	if err != nil {
		return v, err
	}
	if v, err = v.ToF32(); err != nil {
		return v, fmt.Errorf("%s: %w", t.Name, err)
	}
	return v, nil
}
