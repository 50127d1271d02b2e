package onnx

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Exporters move the elements of weights before layers use them: a linear layer reads its weight
// transposed, and a scale gets axes of length 1. An origin records the tensor of the file that
// became a constant. The constant can then be trained under the file's name, and be written back in
// the file's form.

// origin is the tensor of the file from which nodes made a constant by moving elements.
type origin struct {
	name  string
	shape []int         // shape in the file
	undo  []models.Move // moves that turn the constant into the file's tensor
}

// originOf returns the origin of a constant. It is the constant itself if no node moved it.
func (r *reader) originOf(name string) origin {
	if o, ok := r.origins[name]; ok {
		if before, ok := r.origins[o.name]; ok { // it has a number as its name
			before.undo = simplified(append(slices.Clone(o.undo), before.undo...))
			return before
		}
		return o
	}
	return origin{name: name, shape: r.values[name].Tensor.Shape}
}

// keepOrigin stores the origin of a node's result if the node only moves the elements of a constant.
func (c *call) keepOrigin(op string, out []node.Value) {
	if len(c.Proto.Output) == 0 || len(c.In) == 0 || len(out) == 0 ||
		!c.In[0].IsConstant() || !out[0].IsConstant() {
		return
	}
	from, undo := c.In[0].Tensor, []models.Move(nil)
	switch {
	case table[op].traits.has(onlyReshapes):
		undo = []models.Move{{Shape: from.Shape}}
	case op == "Transpose":
		undo = []models.Move{{Perm: inverse(c.Permutation(len(from.Shape)))}}
	case op == "Identity" && c.isCopy(c.Proto.Output[0]):
		return
	case op != "Identity" && op != "Dropout" && !c.changesNothing(op, out[0].Tensor):
		return
	case !slices.Equal(from.Shape, out[0].Tensor.Shape):
		undo = []models.Move{{Shape: from.Shape}}
	}
	o := c.originOf(c.Proto.Input[0])
	o.undo = simplified(append(undo, o.undo...))
	c.origins[c.Proto.Output[0]] = o
}

// changesNothing reports whether a Slice returns its whole operand, or an Expand only adds
// axes of length 1.
func (c *call) changesNothing(op string, t tensor.Tensor) bool {
	return (op == "Slice" || op == "Expand" || op == "Tile" || op == "Cast") && sameElements(c.In[0].Tensor, t)
}

func sameElements(a, b tensor.Tensor) bool {
	n := a.Count()
	return a.DType == b.DType && n == b.Count() && sameTensor(a.Reshape(n), b.Reshape(n))
}

func inverse(perm []int) []int {
	out := make([]int, len(perm))
	for i, a := range perm {
		out[a] = i
	}
	return out
}

// simplified merges consecutive moves of one kind, and removes permutations that change nothing.
func simplified(moves []models.Move) (out []models.Move) {
	for _, m := range moves {
		last := len(out) - 1
		switch {
		case last < 0:
		case m.Perm == nil && out[last].Perm == nil:
			out = out[:last]
		case m.Perm != nil && len(m.Perm) == len(out[last].Perm):
			joined := make([]int, len(m.Perm))
			for i, a := range m.Perm {
				joined[i] = out[last].Perm[a]
			}
			out, m = out[:last], models.Move{Perm: joined}
		}
		if !slices.IsSorted(m.Perm) || m.Perm == nil {
			out = append(out, m)
		}
	}
	return out
}

// isCopy reports whether the result of an Identity is a separate tensor of the PyTorch module, which
// was equal to the operand when the file was written.
func (r *reader) isCopy(name string) bool {
	named := r.fromTorch || strings.Contains(name, ".")
	return named && isParameterName(name) || numbered.MatchString(name)
}

// keepIdentity stores the origin of the result of an Identity that was not computed.
func (r *reader) keepIdentity(operand, result string) {
	x := r.values[operand]
	if r.isCopy(result) {
		if !r.initial[operand] {
			return
		}
		r.initial[result] = true
		if _, listed := r.file.Tensor(result); !listed && x.File != nil {
			r.file.Tensors = append(r.file.Tensors, x.File.Renamed(result))
		}
		return
	}
	o := r.originOf(operand)
	if x.File != nil {
		o.shape = x.File.Shape
	}
	r.origins[result] = o
}

// fileForm is the form of a state tensor in the file.
type fileForm struct {
	name string
	undo []models.Move
}

// formOf returns the form of the state tensor t in the file. t was made from the
// constant name by moves.
func (r *reader) formOf(name string, t tensor.Tensor, moves []models.Move) fileForm {
	o := r.originOf(name)
	shape := t.Shape
	for _, m := range moves {
		shape = movedShape(shape, m)
	}
	if x, ok := r.values[name]; ok && x.File == nil && x.IsConstant() && !slices.Equal(shape, x.Tensor.Shape) {
		moves = append(moves, models.Move{Shape: x.Tensor.Shape})
	}
	return fileForm{o.name, simplified(append(slices.Clone(moves), o.undo...))}
}

func movedShape(shape []int, m models.Move) []int {
	if m.Perm == nil {
		return m.Shape
	}
	out := make([]int, len(shape))
	for i, a := range m.Perm {
		out[i] = shape[a]
	}
	return out
}

// fileTensors lists the state tensors that have another name or another form in the file, and those
// that are not in the file.
func (r *reader) fileTensors() (list []models.FileTensor) {
	for _, s := range r.table {
		form, ok := r.forms[s.Name]
		switch {
		case !ok || r.isUnnamed(form.name, s):
			list = append(list, models.FileTensor{State: s.Name})
		case form.name != s.Name || len(form.undo) > 0 || r.aliases[form.name] != nil:
			for _, name := range append([]string{form.name}, r.aliases[form.name]...) {
				list = append(list, models.FileTensor{State: s.Name, Name: name, Moves: form.undo})
			}
		}
	}
	return append(list, r.unused()...)
}

// The maximum sizes, in bytes, of one tensor and of all tensors that a template keeps although its
// graph does not use them.
const (
	maxUnused    = 256 << 10
	maxAllUnused = 4 << 20
)

// unused returns the tensors of PyTorch's state dict that are not in the state: masks, positions, and
// tensors that were folded into another constant.
func (r *reader) unused() (list []models.FileTensor) {
	if !r.fromTorch {
		return nil
	}
	has, total := map[string]bool{}, 0
	for _, form := range r.forms {
		has[form.name] = true
	}
	for _, p := range r.src.Initializer {
		x := r.values[p.Name]
		if has[p.Name] || !isParameterName(p.Name) || !x.IsConstant() {
			continue
		}
		size, err := 0, error(nil)
		if x.File != nil {
			size = x.File.Size()
		} else {
			size = len(x.Tensor.Bytes)
		}
		if total += size; size > maxUnused || total > maxAllUnused {
			continue
		}
		if x, _, err = r.operand(p.Name); err == nil {
			list = append(list, models.FileTensor{Name: p.Name, Content: x.Tensor})
		}
	}
	return list
}

// label returns the name that a tensor of the file has in the graph.
func (r *reader) label(name string) string {
	label, ok := r.labels[name]
	if !ok {
		label = r.takenLabels.Free(foreign.Clean(name, "tensor"))
		r.labels[name] = label
	}
	return label
}
