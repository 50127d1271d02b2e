package onnx

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// PyTorch's exporter folds the nodes that move a weight, and numbers the result: onnx::MatMul_26 is the
// transposed weight of a linear layer. The node that reads it has the path of the module in its name,
// /block/block.3/MatMul, and the bias keeps its name. From these, the weight gets back the name and the
// form that it has in the module.

var numbered = regexp.MustCompile(`^onnx::[A-Za-z]+_[0-9]+$`)

// naming gives the tensors of a file their names in PyTorch's modules.
type naming struct{ *reader }

// nameNumbered gives numbered initializers the names that modules have for them.
func (r naming) nameNumbered() {
	if !r.fromTorch {
		return
	}
	norms := map[string]bool{} // modules that have an instance norm
	for _, n := range r.src.Node {
		if n.OpType == "InstanceNormalization" {
			norms[modulePath(n.Name)] = true
		}
	}
	for _, n := range r.src.Node {
		path := modulePath(n.Name)
		switch {
		case len(n.Input) < 2:
		case n.OpType == "MatMul":
			r.nameMatrix(n, path)
		case n.OpType == "Gemm":
			r.nameGemm(n, path)
		case n.OpType == "Conv" || n.OpType == "ConvTranspose":
			r.nameHome(n.Input[1], join(path, "weight"), nil)
			if len(n.Input) > 2 {
				r.nameHome(n.Input[2], join(path, "bias"), nil)
			}
		case n.OpType == "PRelu":
			r.nameFlat(n.Input[1], join(path, "weight"))
		case norms[path] && n.OpType == "Mul":
			r.nameFlat(n.Input[1], join(path, "weight"))
		case norms[path] && n.OpType == "Add":
			r.nameFlat(n.Input[1], join(path, "bias"))
		}
	}
	r.nameShared()
}

// nameMatrix names the weight of a linear layer that was exported as a MatMul, with or without an Add.
func (r naming) nameMatrix(n *onnxpb.NodeProto, path string) {
	x := r.values[n.Input[1]]
	if x.File == nil || len(x.File.Shape) != 2 || len(n.Output) != 1 {
		return
	}
	name := join(path, "weight")
	if readers := r.readersOf(n.Output[0]); len(readers) == 1 && readers[0].OpType == "Add" {
		for _, in := range readers[0].Input {
			if base, ok := strings.CutSuffix(in, "bias"); ok && r.initial[in] {
				name = base + "weight"
			}
		}
	}
	r.nameHome(n.Input[1], name, []models.Move{{Perm: []int{1, 0}}})
}

// nameGemm names the weight of a linear layer that was exported as a Gemm.
func (r naming) nameGemm(n *onnxpb.NodeProto, path string) {
	name, undo := join(path, "weight"), []models.Move{{Perm: []int{1, 0}}}
	if slices.ContainsFunc(n.Attribute, func(a *onnxpb.AttributeProto) bool {
		return a.Name == "transB" && a.GetI() != 0
	}) {
		undo = nil
	}
	if len(n.Input) > 2 {
		if base, ok := strings.CutSuffix(n.Input[2], "bias"); ok && r.initial[n.Input[2]] {
			name = base + "weight"
		}
	}
	r.nameHome(n.Input[1], name, undo)
}

// nameFlat names a tensor that has one axis in the module.
func (r naming) nameFlat(name, home string) {
	if x := r.values[name]; x.File != nil {
		r.nameHome(name, home, []models.Move{{Shape: []int{tensor.Count(x.File.Shape)}}})
	}
}

// nameHome gives a numbered initializer the name home, unless another tensor has that name.
// undo moves its elements to the form in the module. An Identity of a numbered initializer
// is not renamed: its result is a separate tensor.
func (r naming) nameHome(name, home string, undo []models.Move) {
	file := r.values[name].File
	if !numbered.MatchString(name) || home == "" || file == nil {
		return
	}
	if first, ok := r.homes[home]; ok { // the module is called twice
		if r.areEqual(name, first, nil) {
			r.origins[name] = r.origins[first]
		}
		return
	}
	if r.initial[home] && !r.areEqual(name, home, undo) {
		return
	}
	if _, twice := r.origins[name]; twice {
		return
	}
	r.initial[home] = true
	o := origin{name: home, shape: file.Shape, undo: undo}
	for _, m := range undo {
		o.shape = movedShape(o.shape, m)
	}
	r.origins[name], r.homes[home] = o, name
}

// areEqual reports whether two constants have the same elements after moves are applied
// to the first one.
func (r naming) areEqual(name, other string, moves []models.Move) bool {
	x, _, err := r.operand(name)
	y, ok, err2 := r.operand(other)
	return err == nil && err2 == nil && ok && sameTensor(moveAll(x.Tensor, moves), y.Tensor)
}

// modulePath returns the qualified name of the module of a node: features.1.0.block.3 of
// /features/features.1/features.1.0/block/block.3/MatMul. A step of the path is the end of a qualified
// name: its last word and the numbers after it.
func modulePath(node string) string {
	steps := strings.Split(strings.TrimPrefix(node, "/"), "/")
	path, last := "", ""
	for _, step := range steps[:len(steps)-1] {
		switch {
		case path == "":
			path = step
		case strings.HasPrefix(step, last+"."):
			path = path[:len(path)-len(last)] + step
		default:
			path += "." + step
		}
		last = step
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return ""
	}
	return path + "." + name
}

// moduleTensors replaces the tensors of the file by the tensors of the modules, with their names and
// forms, and without numbered copies. Elements are moved when a tensor is read.
func (r naming) moduleTensors() error {
	used, all := map[string]bool{}, []foreign.Tensor{}
	for _, t := range r.file.Tensors {
		used[t.Name] = true
	}
	for _, t := range r.file.Tensors {
		o, ok := r.origins[t.Name]
		if ok = ok && numbered.MatchString(t.Name); ok && used[o.name] { // nameHome found them equal
			r.file.Left = append(r.file.Left, foreign.Group{Name: t.Name, Reason: "a copy of " + o.name, Tensors: 1,
				Bytes: int64(t.Size())})
			continue
		} else if ok {
			used[o.name] = true
			var err error
			if t, err = movedTensor(t, o); err != nil {
				return err
			}
		}
		all = append(all, t)
		for _, second := range r.aliases[t.Name] {
			if !used[second] {
				used[second] = true
				all = append(all, t.Renamed(second))
			}
		}
	}
	r.file.Tensors = all
	return nil
}

// movedTensor returns t with the name and the form of its origin.
func movedTensor(t foreign.Tensor, o origin) (foreign.Tensor, error) {
	return foreign.NewTensor(o.name, t.DType, o.shape, func(dst []byte) error {
		x, err := t.Load()
		if err == nil {
			copy(dst, moveAll(x, o.undo).Bytes)
		}
		return err
	})
}
