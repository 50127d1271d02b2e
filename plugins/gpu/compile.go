package gpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// compiler lowers one function.
type compiler struct {
	exe       *executable
	fn        *function
	node      *graph.Node
	folded    map[graph.Value]class.Norm // batch norms that are folded into products
	epilogues map[graph.Value]*epilogue  // by the first results of their nodes
	temps     []*slot                    // temporary slots of the current node
	found     *slot                      // flags of optimizers that a result is infinite or NaN
	checked   map[graph.Value]bool       // results with flags
	steps     []step
	checks    []*labels   // checks after a run
	changes   []*onChange // steps that run on a change
	refuse    []device.Refusal
}

// builders has the function that lowers each operation. A function that cannot lower its node calls
// compiler.refuseNode.
var builders map[graph.Op]func(c *compiler)

func init() { // if the table had an initialiser, it would refer to itself through the builders
	builders = map[graph.Op]func(c *compiler){}
	for _, family := range []map[graph.Op]func(c *compiler){
		elementOps, structureOps, productOps, poolOps, normOps, softmaxOps, sumOps, updateOps, lossOps,
		exchangeOps, resizeOps, rowNormOps, matMulOps, int8Ops, detectOps,
	} {
		for op, b := range family {
			builders[op] = b
		}
	}
}

// lower lowers fn and returns the nodes that the device cannot run.
func (e *executable) lower(fn *graph.Function) []device.Refusal {
	c := &compiler{exe: e}
	whole := fn
	fn, c.folded = class.Fold(fn)
	if !e.backend.separate {
		fn, c.epilogues = fuse(fn, c.folded)
	}
	c.fn = &function{Function: fn, ends: map[int]graph.Value{}}
	for _, v := range fn.Values {
		c.fn.values = append(c.fn.values, newValue(v))
		if v.State != "" {
			c.fn.values[len(c.fn.values)-1].state = e.states[v.State]
		}
	}
	c.findLastUses()
	e.slots.free = nil
	for _, r := range e.slots.all {
		if !e.reserved(r) {
			e.slots.release(r)
		}
	}
	c.inputs()
	for i := range fn.Nodes {
		c.build(i)
	}
	if fn.Name == graph.Commit {
		c.checkFinite()
	}
	c.fn.steps, c.fn.checks, c.fn.changes, c.fn.Function = c.steps, c.checks, c.changes, whole
	e.functions[fn.Name] = c.fn
	return c.refuse
}

// reserved reports whether a slot must not hold values of functions.
func (e *executable) reserved(r *slot) bool {
	for _, v := range e.retained {
		if v.slot == r {
			return true
		}
	}
	switch r {
	case e.owner, e.starts, e.tree, e.partials:
		return true
	}
	return r.kind == 0 || r.kind == chunks || e.isPartition(r)
}

// isPartition reports whether a slot has a table of a partition.
func (e *executable) isPartition(r *slot) bool {
	for _, k := range e.partitions {
		if r == k.table || r == k.firsts {
			return true
		}
	}
	return false
}

// findLastUses finds the last reader of every value.
func (c *compiler) findLastUses() {
	for i, n := range c.fn.Nodes {
		for _, v := range n.In {
			if v != graph.None {
				c.fn.values[v].last = i
			}
		}
	}
	for _, o := range c.fn.Outputs {
		c.fn.values[o.Value].last = len(c.fn.Nodes)
	}
	for _, u := range c.fn.Updates {
		c.fn.values[u.Value].last = len(c.fn.Nodes)
	}
	if !c.exe.backend.separate {
		c.shareMemory()
	}
}

// shareMemory gives the results of reshapes the memory of their operands.
func (c *compiler) shareMemory() {
	for i := len(c.fn.Nodes) - 1; i >= 0; i-- {
		n := &c.fn.Nodes[i]
		if n.Op != graph.Reshape {
			continue
		}
		x, y := c.fn.values[n.In[0]], c.fn.values[n.Out[0]]
		_, retained := c.retainedName(n.Out[0])
		if !retained && x.state == nil && x.Kind == y.Kind && x.size() == y.size() {
			y.alias, x.last = x, max(x.last, y.last)
		}
	}
}

// inputs assigns slots to the inputs. For commit, they are the slots with the values
// that train retains.
func (c *compiler) inputs() {
	for _, id := range c.fn.Inputs {
		v := c.fn.values[id]
		if retained := c.exe.retained[v.name]; retained != nil && c.fn.Name == graph.Commit {
			v.slot, v.last = retained.slot, len(c.fn.Nodes)
			continue
		}
		v.slot = c.exe.slots.acquire(v.Kind, v.size())
		v.last = len(c.fn.Nodes)
	}
}

// build lowers node i.
func (c *compiler) build(i int) {
	c.node, c.temps = &c.fn.Nodes[i], nil
	for _, id := range c.node.Out {
		v := c.fn.values[id]
		if s := c.inPlace(i, id); s != nil {
			v.state = s
		} else if v.alias != nil {
			v.slot, v.state = v.alias.slot, v.alias.state
		} else if name, ok := c.retainedName(id); ok {
			v.slot = c.exe.slots.reserve(v.Kind, v.size())
			c.exe.retained[name] = v
		} else {
			v.slot = c.exe.slots.acquire(v.Kind, v.size())
		}
	}
	t := c.epilogues[c.node.Out[0]]
	if b := builders[c.node.Op]; t != nil && t.chain {
		c.chain(t)
	} else if c.out(0).alias != nil {
		// the memory already has the elements
	} else if b != nil {
		b(c)
	} else {
		c.refuseNode("this device does not have the operation")
	}
	c.fn.ends[len(c.steps)] = c.node.Out[0]
	if t != nil {
		c.fn.ends[len(c.steps)] = t.product
	}
	if norm, ok := c.folded[c.node.Out[0]]; ok {
		c.fn.ends[len(c.steps)] = norm.Product
	}
	c.exe.slots.free = append(c.exe.slots.free, c.temps...)
	c.release(i)
}

// release releases the slots of the values that no node after i reads.
func (c *compiler) release(i int) {
	seen := map[*value]bool{}
	for _, id := range append(append([]graph.Value{}, c.node.In...), c.node.Out...) {
		if id == graph.None {
			continue
		}
		v := c.fn.values[id].origin()
		if seen[v] {
			continue
		}
		seen[v] = true
		if v.state == nil && v.last <= i {
			c.exe.slots.release(v.slot)
		}
	}
}

// retainedName returns the name under which train retains a value for commit, if it does.
func (c *compiler) retainedName(id graph.Value) (string, bool) {
	for _, o := range c.fn.Outputs {
		if o.Value == id && o.Keep {
			return o.Name, true
		}
	}
	return "", false
}

// refuseNode records that the device cannot run the current node.
func (c *compiler) refuseNode(why string) {
	c.refuse = append(c.refuse, device.Refusal{
		Function: c.fn.Name, Node: c.fn.NodeName(c.node), Op: c.node.Op, Why: why})
}

// in returns operand i of the current node, or nil if it is absent.
func (c *compiler) in(i int) *value {
	if i >= len(c.node.In) || c.node.In[i] == graph.None {
		return nil
	}
	return c.fn.values[c.node.In[i]]
}

// out returns result i of the current node.
func (c *compiler) out(i int) *value { return c.fn.values[c.node.Out[i]] }

// temp acquires a slot that only the current node uses.
func (c *compiler) temp(kind graph.Kind, bytes int) *slot {
	r := c.exe.slots.acquire(kind, bytes)
	c.temps = append(c.temps, r)
	return r
}

// private reserves a slot for results that are computed once, not in every run.
func (c *compiler) private(bytes int) *slot {
	r := c.exe.slots.reserve(0, bytes)
	return r
}

// launch adds a launch of a kernel over the units of a kind, n elements each.
func (c *compiler) launch(kernel string, kind graph.Kind, n int, args ...any) {
	c.steps = append(c.steps, &launch{kernel: kernel, kind: kind, n: n, args: args})
}

// launchOnChange calls do, which adds steps. In a run, these steps are skipped if none of the values of has
// changed. If one of the values is not state, they are never skipped.
func (c *compiler) launchOnChange(of []*value, do func()) {
	before := c.steps
	p := &onChange{}
	c.steps = nil
	do()
	made := c.steps
	c.steps = before
	for _, v := range of {
		if v != nil && v.state == nil {
			c.steps = append(c.steps, made...)
			return
		}
		if v != nil {
			p.of, p.stamps = append(p.of, v.state), append(p.stamps, 0)
		}
	}
	p.steps = made
	c.steps, c.changes = append(c.steps, p), append(c.changes, p)
}

// These are relations between the units of an operand and the units of a result.
const (
	ofWhole = iota
	ofSame
	ofOwner
)

// unitsOf returns how the units of v relate to the units of a kind.
func unitsOf(v *value, kind graph.Kind) int {
	switch v.Kind {
	case graph.Whole:
		return ofWhole
	case kind:
		return ofSame
	}
	return ofOwner
}
