package predict

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// openFields opens the arrays of a model with several inputs: NAME=FILE.npy for each input, or
// one .npz file that has an array for each.
func openFields(m *models.Model, inputs []string, note func(format string, args ...any)) (data.Source,
	error) {
	given, err := readFields(m, inputs)
	if err != nil {
		return nil, err
	}
	arrays := make([]tensor.Tensor, len(m.Fields))
	for i, p := range m.Fields {
		k := slices.IndexFunc(given, func(n data.Named) bool { return n.Name == p.Name })
		if k < 0 {
			return nil, fieldsProblem(m, fmt.Sprintf("input %s is missing", p.Name))
		}
		if arrays[i] = given[k].Array; slices.Equal(arrays[i].Shape, p.Shape) {
			arrays[i] = arrays[i].Reshape(append([]int{1}, p.Shape...)...)
			if note != nil {
				note("input %s: %s is taken as one sample", p.Name, tensor.Describe(p.DType, p.Shape))
			}
		}
	}
	x, err := m.Pack(arrays)
	if err != nil {
		return nil, err
	}
	file := inputs[0]
	if _, path, ok := strings.Cut(file, "="); ok && len(inputs) > 1 {
		file = path
	}
	return data.FromArray("arrays", file, x)
}

// readFields reads the arrays that inputs name.
func readFields(m *models.Model, inputs []string) (arrays []data.Named, err error) {
	known := func(name string) bool {
		return slices.ContainsFunc(m.Fields, func(p models.Field) bool { return p.Name == name })
	}
	if len(inputs) == 1 && strings.EqualFold(filepath.Ext(inputs[0]), ".npz") {
		return data.ReadNPZFile(inputs[0], known)
	}
	for _, input := range inputs {
		name, path, ok := cutField(input, known)
		switch {
		case !ok && strings.Contains(input, "="):
			return nil, fieldsProblem(m, fmt.Sprintf("%.80q names no input of the model", input))
		case !ok:
			return nil, fieldsProblem(m, fmt.Sprintf("%.80q does not say which input it is", input))
		case slices.ContainsFunc(arrays, func(n data.Named) bool { return n.Name == name }):
			return nil, fieldsProblem(m, "input "+name+" is given twice")
		}
		x, err := data.ReadNPYFile(path)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", name, err)
		}
		arrays = append(arrays, data.Named{Name: name, Array: x})
	}
	return arrays, nil
}

// cutField divides NAME=FILE, where the name of an input may have an equals sign in it.
func cutField(input string, known func(string) bool) (name, path string, ok bool) {
	for i := range len(input) {
		if input[i] == '=' && known(input[:i]) {
			return input[:i], input[i+1:], true
		}
	}
	return "", "", false
}

// fieldsProblem returns an error about the inputs that are given for m.
func fieldsProblem(m *models.Model, text string) error {
	var each []string
	for i, p := range m.Fields {
		each = append(each, fmt.Sprintf("%s=%c.npy", p.Name, 'a'+i%26))
	}
	return problem.New("", "", fmt.Sprintf("%s; model %s has %s: %s", text, m.Architecture,
		problem.Plural(len(m.Fields), "input"), m.DescribeInputs()), "give "+strings.Join(each, " ")+
		", or one .npz file with these arrays")
}
