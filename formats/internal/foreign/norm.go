package foreign

// BatchNorm holds the names of the tensors of a batch norm; "" if the file lacks one.
type BatchNorm struct {
	Name                               string // common prefix of the names, or the layer's name in the graph
	Mean, Variance, Gamma, Beta, Count string
	Eps, Decay                         float64 // 0 if the file does not state it
}

// SetTensors replaces f's tensors by renamed ones, in the same order, and renames the
// tensors in the batch norms of its graph.
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
