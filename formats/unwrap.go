package formats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// The names that wrappers give to the wrapped module: DataParallel,
// DistributedDataParallel, DeepSpeed's and Megatron's engines, AveragedModel and timm's
// ModelEma; torch.compile; FSDP of PyTorch and of FairScale; checkpoint_wrapper; Lightning
// Fabric; Opacus.
var wrapperNames = []string{"module", "_orig_mod", "_fsdp_wrapped_module", "_fpw_module",
	"_checkpoint_wrapped_module", "_forward_module", "_module"}

// maxWrappers is the number of wrappers that are listed one by one.
const maxWrappers = 16

// branch is a component of the tensors' names, with the components that follow it.
type branch struct{ next map[string]*branch }

// unwrap removes wrappers from the names: a component that a wrapper adds is removed, at
// any depth, if all names under the same prefix have it. Removing one may expose the next,
// so it repeats until no wrapper remains.
func unwrap(f *File) {
	if f.Model != nil {
		return // the tensors already have the graph's names
	}
	dropAveraged(f)
	root := &branch{}
	for _, t := range f.Tensors {
		if t.Loose() == "" { // tensors without a layer may be outside of the wrapper
			root.add(strings.Split(t.Name, "."))
		}
	}
	var seen []string
	taken := map[string]bool{}
	renamed := slices.Clone(f.Tensors)
	for i, t := range f.Tensors {
		name, removed := root.strip(strings.Split(t.Name, "."))
		if taken[name] {
			continue // another tensor without a layer has this name
		}
		taken[name] = true
		renamed[i] = t.Renamed(name)
		for _, w := range removed {
			if !slices.Contains(seen, w) && len(seen) < maxWrappers {
				seen = append(seen, w)
			}
		}
	}
	f.SetTensors(renamed)
	f.Wrappers = append(f.Wrappers, seen...)
}

func (b *branch) add(names []string) {
	for _, p := range names {
		if b.next == nil {
			b.next = map[string]*branch{}
		}
		if b.next[p] == nil {
			b.next[p] = &branch{}
		}
		b = b.next[p]
	}
}

// strip returns a name without its wrappers, and the removed wrappers with the names before
// them: "features.module.".
func (b *branch) strip(names []string) (name string, removed []string) {
	var remaining []string
	for i, p := range names {
		if b.next[p] == nil { // a tensor that no layer has
			return strings.Join(append(remaining, names[i:]...), "."), removed
		}
		alone := len(b.next) == 1 && i+1 < len(names)
		b = b.next[p]
		if alone && len(b.next) > 0 && slices.Contains(wrapperNames, p) {
			removed = append(removed, strings.Join(names[:i+1], ".")+".")
			continue
		}
		remaining = append(remaining, p)
	}
	return strings.Join(remaining, "."), removed
}

// dropAveraged removes the counter that an average stores with the module: n_averaged of
// torch.optim.swa_utils.AveragedModel, steps of mmengine's BaseAveragedModel.
func dropAveraged(f *File) {
	dropCounter(f, "n_averaged")
	dropCounter(f, "steps")
}

func dropCounter(f *File, counter string) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool {
		return (t.Name == counter || strings.HasSuffix(t.Name, "."+counter)) && tensor.Count(t.Shape) == 1
	})
	if i < 0 {
		return
	}
	module := strings.TrimSuffix(f.Tensors[i].Name, counter) + "module."
	for j, t := range f.Tensors {
		if j != i && !strings.HasPrefix(t.Name, module) {
			return // the tensor is not the counter of an average
		}
	}
	f.Left = append(f.Left, Group{Name: f.Tensors[i].Name, Reason: "counter of an averaged model",
		Tensors: 1, Bytes: int64(f.Tensors[i].Size())})
	f.Find("", fmt.Sprintf("the weights are an average (%s): the running statistics are stale "+
		"unless update_bn was run",
		f.Tensors[i].Name), "re-estimate them over the data of the training")
	f.Tensors = slices.Delete(slices.Clone(f.Tensors), i, i+1)
}
