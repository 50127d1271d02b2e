package plan

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/plugins/cpu/internal/fusion"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/tensor"
)

// Builder returns the action of the compiler's current node. It returns nil after it has
// refused the node.
type Builder = func(c *Compiler) run.Action

// Compiler turns the nodes of one function into actions, one after the other. It gives a
// Builder information about the current node, and passes the actions to a run.Linker.
type Compiler struct {
	machine *run.Machine
	memory  *arena.Memory
	linker  *run.Linker
	fn      *graph.Function // the function after fusion
	index   int             // index of the current node
	fused   map[graph.Value]fusion.Fused
	masks   map[graph.Value]fusion.Mask
	// follows contains the result of an all-reduce if its node directly follows another all-reduce in the
	// original function.
	follows  map[graph.Value]bool
	closing  map[graph.Value]bool // first results of exchanges that no node reads
	summed   map[*run.Value]bool  // gradients that come as a sum over the replicas of this device
	refusals []device.Refusal
}

// Kernels returns the kernels of the device.
func (c *Compiler) Kernels() *kernel.Set { return c.machine.Kernels }

// Schedule returns how the device divides work.
func (c *Compiler) Schedule() schedule.Schedule { return c.machine.Schedule }

// Threads returns the number of workers.
func (c *Compiler) Threads() int { return len(c.machine.Pool.Workers) }

// Precision returns the name of the device's precision.
func (c *Compiler) Precision() string { return c.machine.Precision() }

// BF16 reports whether the precision is device.BF16.
func (c *Compiler) BF16() bool { return c.machine.Reduced }

// HoldsBF16 reports whether v holds bfloat16, in two bytes or in four.
func (c *Compiler) HoldsBF16(v *run.Value) bool { return c.linker.BF16(v) }

// Function returns the name of the function.
func (c *Compiler) Function() string { return c.fn.Name }

// Graph returns the function after fusion. Builders may read it, but not change it.
func (c *Compiler) Graph() *graph.Function { return c.fn }

// Node returns the current node. Builders may read it, but not change it.
func (c *Compiler) Node() *graph.Node { return &c.fn.Nodes[c.index] }

// NodeName returns the name of the node, for messages.
func (c *Compiler) NodeName() string { return c.fn.NodeName(c.Node()) }

// Window returns the kernel, strides, padding and dilation of the node.
func (c *Compiler) Window() graph.Window { return c.fn.WindowOf(c.Node()) }

// Layer returns the node, which is a product, in the form for the choice of an algorithm.
func (c *Compiler) Layer() (l class.Layer, ok bool) { return class.LayerOf(c.fn, c.Node()) }

// In returns operand i of the node, or nil if it is absent.
func (c *Compiler) In(i int) *run.Value {
	in := c.Node().In
	if i >= len(in) || in[i] == graph.None {
		return nil
	}
	return c.linker.Value(in[i])
}

// Out returns result i of the node.
func (c *Compiler) Out(i int) *run.Value { return c.linker.Value(c.Node().Out[i]) }

// FoldedNorm returns the batch norm that is folded into the weights of the node, or nil.
// Its operands follow the operands of the node.
func (c *Compiler) FoldedNorm() *class.Norm { return c.fused[c.Node().Out[0]].Norm }

// Mask returns the activation gradient that the node computes in addition to its sums: see
// fusion.Masks.
func (c *Compiler) Mask() (m fusion.Mask, ok bool) {
	m, ok = c.masks[c.Node().Out[0]]
	return m, ok
}

// Shuffles returns the number of groups of channels that the node interleaves if it is a transposition
// or a concatenation, or 0 if it interleaves nothing.
func (c *Compiler) Shuffles() int { return c.fused[c.Node().Out[0]].Groups }

// Region returns the part of operand i that the node, a concatenation, reads. ok is false
// if it reads all of it.
func (c *Compiler) Region(i int) (p fusion.Region, ok bool) {
	regions := c.fused[c.Node().Out[0]].Regions
	if regions == nil || regions[i].Shape == nil {
		return p, false
	}
	return regions[i], true
}

// OnlySummed reports whether the node's first result has a single reader, which is an all-reduce that sums.
func (c *Compiler) OnlySummed() bool {
	v, readers := c.Node().Out[0], 0
	for i := range c.fn.Nodes {
		n := &c.fn.Nodes[i]
		if !slices.Contains(n.In, v) {
			continue
		}
		if n.Op != graph.AllReduce || n.Text("of") != "sum" {
			return false
		}
		readers++
	}
	return readers == 1 && !c.fn.IsResult(v)
}

// ComesSummed records that a gradient is already summed over the replicas that this device
// holds, so that an all-reduce need not add them.
func (c *Compiler) ComesSummed(v *run.Value) {
	c.summed[v] = true
	v.SetSummed()
}

// Temp reserves memory for the node while it runs. Its size in bytes is fixed, plus perReplica for each
// replica, plus perRow for each row.
func (c *Compiler) Temp(fixed, perReplica, perRow int) *arena.Slot {
	return c.linker.Temp(c.index, fixed, perReplica, perRow)
}

// TempValue returns a value of the same type and layout as v, in temporary memory of the node.
func (c *Compiler) TempValue(v *run.Value) *run.Value { return c.linker.TempValue(c.index, v) }

// OnLayout registers f to be called when every value has a place in memory. Only then is it known which
// values are halves, and which are stored in rings.
func (c *Compiler) OnLayout(f func()) { c.linker.OnLayout(f) }

// Packed returns the packed weights that another node has stored under a key, or nil.
func (c *Compiler) Packed(key string) arena.Packed { return c.memory.Packed(key) }

// SetPacked keeps packed weights under a key.
func (c *Compiler) SetPacked(key string, p arena.Packed) { c.memory.SetPacked(key, p) }

// ReservePacked returns n zeros for packed weights.
func ReservePacked[T tensor.Element](c *Compiler, n int) []T { return arena.Reserve[T](c.memory, n) }

// AllowPassing makes calls of run.Frame.Passing for up to n values possible.
func (c *Compiler) AllowPassing(n int) { c.memory.AllowPassing(n) }

// Refuse records that the device cannot run the node. The host may decompose it, or use another device.
func (c *Compiler) Refuse(why string) run.Action {
	given := *c.Node()
	if len(given.Out) > 0 {
		given.Out = []graph.Value{c.linker.Function().Given(given.Out[0])}
	}
	c.refusals = append(c.refusals, device.Refusal{
		Function: c.fn.Name, Node: c.fn.NodeName(&given), Op: given.Op, Why: why})
	return nil
}
