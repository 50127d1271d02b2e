package ptx

// fork sends each lane to the target that its guard selects.
func (b *block) fork(g *group, n *node) {
	b.defined(n.guard, g.lanes)
	guard := b.reg[n.guard]
	taken := 0
	for _, l := range g.lanes {
		if (guard[l] != 0) != n.not {
			taken++
		}
	}
	switch taken {
	case 0:
		g.at++
	case len(g.lanes):
		g.at = n.to
	default:
		b.diverge(g, n, taken)
	}
}

// diverge splits a group in two.
func (b *block) diverge(g *group, n *node, taken int) {
	guard := b.reg[n.guard]
	to := &group{at: n.to, lanes: make([]int32, 0, b.n)}
	stay := make([]int32, 0, b.n)
	for _, l := range g.lanes {
		if (guard[l] != 0) != n.not {
			to.lanes = append(to.lanes, l)
		} else {
			stay = append(stay, l)
		}
	}
	g.at, g.lanes = g.at+1, stay
	b.groups = append(b.groups, to)
}

// barrier lets all threads continue if all of them are at the same barrier.
func (b *block) barrier() {
	first := b.groups[0]
	count := 0
	for _, g := range b.groups {
		b.line = b.e.nodes[g.at].line
		if g.at != first.at {
			fail(g.lanes[0], "threads wait at different barriers: thread %d in line %d",
				first.lanes[0], b.e.nodes[first.at].line)
		}
		count += len(g.lanes)
	}
	if count != b.n {
		fail(first.lanes[0], "%d of %d threads reach the barrier, the others have returned", count, b.n)
	}
	b.m.epoch++
	for _, g := range b.groups {
		g.at, g.waits = g.at+1, false
	}
}
