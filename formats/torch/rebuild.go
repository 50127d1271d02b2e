package torch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
	"github.com/bnctl/bnctl/tensor"
)

// maxNested limits how deep parameters are wrapped in one another.
const maxNested = 4

// rebuilders are the modules with functions that make tensors.
var rebuilders = []string{"torch._utils", "torch._tensor", "torch.tensor"}

// isTensor reports whether v claims to be a tensor.
func isTensor(v any) bool {
	switch v := v.(type) {
	case *view:
		return true
	case *pickle.Call:
		g, ok := v.Func.(pickle.Global)
		return ok && slices.Contains(rebuilders, g.Module) && strings.HasPrefix(g.Name, "_rebuild") ||
			dataOf(v) != nil
	}
	return false
}

// dataOf returns the tensor in a Parameter or Variable pickled by PyTorch before 0.4: the
// argument of the class, or the first of five values of its state. It returns nil for
// anything else.
func dataOf(call *pickle.Call) any {
	parameter := pickle.Global{Module: "torch.nn.parameter", Name: "Parameter"}
	variable := pickle.Global{Module: "torch.autograd.variable", Name: "Variable"}
	if call.Func != parameter && call.Func != variable {
		return nil
	}
	if len(call.Args) > 0 {
		return call.Args[0]
	}
	for _, s := range call.State {
		if values, ok := s.(pickle.Tuple); ok && len(values) == 5 {
			return values[0]
		}
	}
	return nil
}

// rebuild does the same as torch._utils: it makes a tensor from the arguments of a rebuild
// function. The functions are known by name, and never called.
func rebuild(v any) (*view, error) {
	for range maxNested {
		if ready, ok := v.(*view); ok {
			return ready, nil
		}
		call, ok := v.(*pickle.Call)
		if !ok || !isTensor(v) {
			return nil, fmt.Errorf("%s is not a tensor", pickle.Describe(v))
		}
		if data := dataOf(call); data != nil {
			v = data
			continue
		}
		args := call.Args
		switch name := call.Func.(pickle.Global).Name; {
		case name == "_rebuild_tensor" && len(args) == 4, name == "_rebuild_tensor_v2" && len(args) >= 6:
			return rebuildTensor(args, nil)
		case name == "_rebuild_tensor_v3" && len(args) >= 7:
			return rebuildTensor(args, args[6])
		case strings.HasPrefix(name, "_rebuild_parameter") && len(args) >= 3:
			v = args[0]
		case strings.HasPrefix(name, "_rebuild_from_type") && len(args) == 4: // func, type, args, state
			inner, ok := args[2].(pickle.Tuple)
			if !ok {
				return nil, fmt.Errorf("%s: the third argument is %s", name, pickle.Describe(args[2]))
			}
			v = &pickle.Call{Func: args[0], Args: inner}
		default:
			return nil, refuseTensor(name, args)
		}
	}
	return nil, fmt.Errorf("parameters wrapped more than %d deep", maxNested)
}

// rebuildTensor makes a tensor of (storage, offset, size, stride, ...).
func rebuildTensor(args pickle.Tuple, dtype any) (*view, error) {
	store, ok := args[0].(*storage)
	if !ok {
		return nil, fmt.Errorf("a tensor over %s, want a storage", pickle.Describe(args[0]))
	}
	v := &view{store: store, dtype: store.dtype}
	var err error
	if dtype != nil {
		if v.dtype, err = typeNamed(dtype); err != nil {
			return nil, err
		}
	}
	if v.dtype == 0 {
		return nil, fmt.Errorf("%v is untyped and the tensor names no type", store)
	}
	if v.offset, ok = args[1].(int64); !ok {
		return nil, fmt.Errorf("the offset is %s", pickle.Describe(args[1]))
	}
	size, err := integers(args[2])
	if err != nil {
		return nil, fmt.Errorf("size: %w", err)
	}
	if v.stride, err = integers(args[3]); err != nil {
		return nil, fmt.Errorf("stride: %w", err)
	}
	for _, n := range size {
		v.shape = append(v.shape, int(n))
	}
	return v, v.check()
}

// integers returns the elements of a tuple, list or torch.Size.
func integers(v any) ([]int64, error) {
	size := pickle.Global{Module: "torch", Name: "Size"}
	if call, ok := v.(*pickle.Call); ok && call.Func == size && len(call.Args) == 1 {
		v = call.Args[0]
	}
	var items []any
	switch v := v.(type) {
	case pickle.Tuple:
		items = v
	case *pickle.List:
		items = v.Items
	default:
		return nil, fmt.Errorf("%s, want a tuple", pickle.Describe(v))
	}
	if len(items) > tensor.MaxRank {
		return nil, fmt.Errorf("rank %d; at most %d is supported", len(items), tensor.MaxRank)
	}
	out := make([]int64, len(items))
	for i, item := range items {
		n, ok := item.(int64)
		if !ok {
			return nil, fmt.Errorf("%s, want a number", pickle.Describe(item))
		}
		out[i] = n
	}
	return out, nil
}
