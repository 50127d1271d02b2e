package shm

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync/atomic"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// lane is one lane of the exchanges, as a member sees it.
type lane struct {
	laneMemory
	member      *Member
	assembly    *collective.Assembly
	maxPartials int         // maximum number of partial values of a rank
	awake       atomic.Bool // waiting may begin with spinning, because the run has nothing else to do
	barrier     uint64      // last barrier that this member has reached
	round       uint64      // number of rounds so far
	broken      error       // error of an exchange; afterwards the lane cannot be used
}

func newLane(m *Member, n collective.Lane, memory laneMemory, replicas [][]int) (*lane, error) {
	leaves := 0
	for _, r := range replicas {
		leaves += len(r)
	}
	l := &lane{laneMemory: memory, member: m, assembly: collective.NewAssembly(leaves, replicas), maxPartials: 1}
	l.awake.Store(n == collective.Moments)
	for rank := range replicas {
		l.maxPartials = max(l.maxPartials, l.assembly.Partials(rank))
	}
	if l.partialBytes() < minPartialBytes {
		return nil, fmt.Errorf("shared memory: a device brings %d parts, too many for a slot", l.maxPartials)
	}
	return l, nil
}

// partialBytes returns the number of bytes that each partial value may have in a round.
func (l *lane) partialBytes() int {
	return (len(l.result)/l.maxPartials - maxSegments) &^ (cacheLine - 1)
}

// minPartialBytes is the smallest permitted result of partialBytes. It is enough for some
// elements of any type.
const minPartialBytes = 1 << 10

// exchange is an exchange in progress.
type exchange struct {
	record record
	pieces []piece     // pieces of the present round
	rest   []remainder // values of later rounds
}

// begin starts the first round of an exchange without waiting.
func (l *lane) begin(tag collective.Tag, values []collective.Reduction) (*exchange, error) {
	for i, v := range values {
		if err := l.check(v); err != nil {
			return nil, fmt.Errorf("exchange %s: value %d: %w", tag.Name, i, err)
		}
	}
	x := &exchange{rest: make([]remainder, len(values))}
	for i := range values {
		x.rest[i].Reduction = &values[i]
	}
	x.record = record{step: tag.Step, sequence: tag.Sequence, values: sumOver(values, tag.Generation)}
	x.record.length = uint64(copy(x.record.name[:], tag.Name))
	l.beginRound(x) // without values the members still synchronise
	return x, nil
}

// end ends the present round, and makes the remaining rounds.
func (l *lane) end(ctx context.Context, x *exchange) error {
	for {
		if err := l.endRound(ctx, x); err != nil {
			return err
		}
		if len(x.rest) == 0 {
			return nil
		}
		x.record.round++
		l.beginRound(x)
	}
}

// check returns an error unless a value has all partial values of this member, with the type of the
// result.
func (l *lane) check(v collective.Reduction) error {
	if got, want := len(v.Partials), l.assembly.Partials(l.member.rank); got != want {
		return fmt.Errorf("%d parts, want %d", got, want)
	}
	for _, p := range v.Partials {
		if !p.Value.IsZero() && (p.Value.DType != v.Result.DType || len(p.Value.Bytes) != len(v.Result.Bytes)) {
			return fmt.Errorf("part %v is %v, want %v", p.Node, p.Value, v.Result)
		}
	}
	return nil
}

// sumOver returns a checksum of the operations, types and sizes of the values.
func sumOver(values []collective.Reduction, generation uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, generation, len(values))
	for _, v := range values {
		fmt.Fprint(h, " ", v.Op, v.Result.DType, len(v.Result.Bytes))
	}
	return h.Sum64()
}

// beginRound writes this member's partial values of the next pieces into its slot and
// arrives at the barrier.
func (l *lane) beginRound(x *exchange) {
	l.round++
	x.pieces, x.rest = l.next(x.rest)
	slot := l.round % slotsPerRank
	*l.records[l.member.rank][slot] = x.record
	for i := range x.pieces {
		l.put(&x.pieces[i], slot)
	}
	l.arrive()
}

// endRound combines the pieces of the round and stores the results. Every member combines
// all of a small piece. Of a large piece each member combines one range, and copies the other
// ranges from the members that have combined them.
func (l *lane) endRound(ctx context.Context, x *exchange) error {
	slot := l.round % slotsPerRank
	if err := l.member.wait(ctx, l, l.barrier); err != nil {
		return err
	}
	if err := l.agree(&x.record, slot); err != nil {
		return err
	}
	shared := false
	for i := range x.pieces {
		l.combine(&x.pieces[i], slot)
		shared = shared || x.pieces[i].shared()
	}
	if !shared {
		return nil
	}
	l.arrive()
	if err := l.member.wait(ctx, l, l.barrier); err != nil {
		return err
	}
	for i := range x.pieces {
		if x.pieces[i].shared() {
			l.fetch(&x.pieces[i])
		}
	}
	return nil
}

// arrive arrives at the next barrier. The last member to arrive wakes the others.
func (l *lane) arrive() {
	l.barrier++
	l.arrived[l.member.rank].Store(l.barrier)
	if l.all(l.barrier) {
		l.bell.ring()
	}
}

// agree returns an error unless the records of all members are equal to r, the record of this member.
func (l *lane) agree(r *record, slot uint64) error {
	for rank := range l.records {
		switch o := l.records[rank][slot]; {
		case *o == *r:
		case o.step != r.step || o.sequence != r.sequence || o.round != r.round || o.name != r.name:
			return fmt.Errorf("rank %d came to %v while this device is at %v", rank, o, r)
		default:
			return fmt.Errorf("rank %d and this device reduce different values at %v", rank, r)
		}
	}
	return nil
}

func (r *record) String() string {
	return fmt.Sprintf("exchange %d of step %d (%s, round %d)",
		r.sequence, r.step, r.name[:min(r.length, uint64(len(r.name)))], r.round)
}

// area returns the memory of partial value i in a slot. The first result has a byte for each
// piece, which marks the piece as present or absent. The second result has the pieces.
func (l *lane) area(rank int, slot uint64, i int) (present, pieces []byte) {
	n := maxSegments + l.partialBytes()
	b := l.slots[rank][slot][i*n:][:n]
	return b[:maxSegments], b[maxSegments:]
}

// put writes this member's partial values of a piece into its slot. It leaves out the range
// that only this member combines.
func (l *lane) put(p *piece, slot uint64) {
	for i, partial := range p.value.Partials {
		there, pieces := l.area(l.member.rank, slot, i)
		there[p.index] = 0
		if partial.Value.IsZero() {
			continue
		}
		there[p.index] = 1
		dst := pieces[p.offset:]
		if p.moments() {
			p.pack(dst, partial.Value.Bytes)
			continue
		}
		from, to := l.localRange(p)
		copy(dst, p.slice(partial.Value.Bytes, 0, from))
		copy(dst[to*p.size():], p.slice(partial.Value.Bytes, to, p.units()))
	}
}

// localRange returns the units of a piece that only this member combines. The range is
// empty if every member combines all units.
func (l *lane) localRange(p *piece) (from, to int) {
	if !p.shared() {
		return p.units(), p.units()
	}
	return rankRange(l.member.rank, len(l.slots), p.units())
}

// combine completes a piece, or this member's range of it.
func (l *lane) combine(p *piece, slot uint64) {
	from, to := 0, p.units()
	if p.shared() {
		from, to = l.localRange(p)
	}
	if to == from {
		return
	}
	dst := p.accumulator(from, to)
	l.assembly.Into(dst, p.value.Op, func(rank, i int) tensor.Tensor {
		there, pieces := l.area(rank, slot, i)
		partial := dst
		switch n := len(dst.Bytes); {
		case there[p.index] == 0:
			return tensor.Tensor{}
		case p.shared() && rank == l.member.rank:
			partial.Bytes = p.slice(p.value.Partials[i].Value.Bytes, from, to)
		default:
			partial.Bytes = pieces[p.offset+from*p.size():][:n:n]
		}
		return partial
	})
	if p.moments() {
		p.unpack(dst)
	} else if p.shared() {
		copy(l.result[p.offset+from*p.size():], dst.Bytes)
	}
}

// fetch copies the ranges of a piece that other members have combined.
func (l *lane) fetch(p *piece) {
	from, to := l.localRange(p)
	copy(p.slice(p.value.Result.Bytes, 0, from), l.result[p.offset:])
	copy(p.slice(p.value.Result.Bytes, to, p.units()), l.result[p.offset+to*p.size():])
}

// rankRange returns the range of rank i of n units that are divided evenly.
func rankRange(i, ranks, n int) (from, to int) { return n * i / ranks, n * (i + 1) / ranks }
