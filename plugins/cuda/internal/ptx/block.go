package ptx

// block is the block that runs. The next block reuses its memory.
type block struct {
	m      *Machine
	e      *Entry
	n      int // number of threads
	index  [3]int
	size   [3]int
	grid   [3]int
	reg    [][]uint64 // [register][lane]
	full   []bool     // registers that all running lanes have written
	wrote  [][]uint32 // for other registers: [register][lane], equal to began if the lane has written it
	shared []*region
	local  []*region
	launch uint32 // first epoch of the launch
	began  uint32 // first epoch of the block
	line   int
	alive  int
	groups []*group

	near   *region // the region of the last access
	nearID uint64
}

// group has the lanes that are at the same node.
type group struct {
	at    int
	waits bool
	lanes []int32
}

// start prepares the block for its first instruction.
func (b *block) start(index [3]int) {
	b.m.epoch++
	b.index, b.began, b.near, b.line = index, b.m.epoch, nil, 0
	clear(b.full)
	for r := range b.e.fixed {
		b.full[r] = true
	}
	for _, p := range b.e.params {
		b.full[p.slot] = true
	}
	for name, r := range b.e.specials {
		b.full[r] = true
		b.special(name, b.reg[r])
	}
	all := make([]int32, b.n)
	for i := range all {
		all[i] = int32(i)
	}
	b.groups, b.alive = []*group{{lanes: all}}, b.n
}

// run runs the block to its end.
func (b *block) run() {
	for budget := b.m.Budget; len(b.groups) > 0; budget-- {
		if budget == 0 {
			fail(b.groups[0].lanes[0], "it runs on after %d steps", b.m.Budget)
		}
		if g := b.pick(); g != nil {
			b.step(g)
		} else {
			b.barrier()
		}
	}
}

// pick returns the group to run next. This is the group at the earliest node, so that other groups can
// catch up. Groups at the same node are merged.
func (b *block) pick() *group {
	var g *group
	for _, h := range b.groups {
		if !h.waits && (g == nil || h.at < g.at) {
			g = h
		}
	}
	if g == nil || len(b.groups) == 1 {
		return g
	}
	running := b.groups[:0]
	for _, h := range b.groups {
		if h != g && !h.waits && h.at == g.at {
			g.lanes = append(g.lanes, h.lanes...)
		} else {
			running = append(running, h)
		}
	}
	b.groups = running
	return g
}

// step runs the instructions of a node for the lanes of a group.
func (b *block) step(g *group) {
	n := &b.e.nodes[g.at]
	for i := range n.ops {
		b.execute(&n.ops[i], g.lanes)
	}
	b.line = n.line
	switch n.end {
	case falls:
		g.at++
	case jumps:
		g.at = n.to
	case forks:
		b.fork(g, n)
	case waits:
		g.waits = true
	case returns:
		b.leave(g)
	}
}

// execute runs an instruction, and checks that the registers that it reads were written.
func (b *block) execute(o *op, lanes []int32) {
	b.line = o.line
	for _, r := range o.reads {
		b.defined(r, lanes)
	}
	o.run(b, lanes)
	for _, r := range o.writes {
		b.define(r, lanes)
	}
}

func (b *block) defined(r int, lanes []int32) {
	if b.full[r] {
		return
	}
	for _, l := range lanes {
		if b.wrote[r][l] != b.began {
			fail(l, "it reads a register that was never written")
		}
	}
}

func (b *block) define(r int, lanes []int32) {
	if b.full[r] {
		return
	}
	if len(lanes) == b.alive {
		b.full[r] = true
		return
	}
	for _, l := range lanes {
		b.wrote[r][l] = b.began
	}
}

// leave removes a group after its threads have ended.
func (b *block) leave(g *group) {
	b.alive -= len(g.lanes)
	for i, h := range b.groups {
		if h == g {
			b.groups = append(b.groups[:i], b.groups[i+1:]...)
			return
		}
	}
}
