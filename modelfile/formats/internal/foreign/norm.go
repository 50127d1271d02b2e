package foreign

// BatchNorm names the tensors of a batch norm: "" where the file has none.
type BatchNorm struct {
	Name                               string // what the names have in common, or the graph calls the layer
	Mean, Variance, Gamma, Beta, Count string
	Eps, Decay                         float64 // 0 where the file does not say
}

// SetTensors gives f its tensors under other names, in the same order, and the
// batch norms of its graph the same names.
func (f *File) SetTensors(renamed []Tensor) {
	names := make(map[string]string, len(renamed))
	for i, t := range f.Tensors {
		names[t.Name] = renamed[i].Name
	}
	for i := range f.Norms {
		n := &f.Norms[i]
		for _, name := range []*string{&n.Mean, &n.Variance, &n.Gamma, &n.Beta, &n.Count} {
			*name = names[*name]
		}
	}
	f.Tensors = renamed
}
