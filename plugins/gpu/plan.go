package gpu

import (
	"encoding/binary"
	"math"
)

// A plan is the work of a function for given numbers of rows: launches, and the steps of the host between
// them. The launches depend only on the numbers of rows, on the state tensors that have changed, and on the
// buffers: values that differ from run to run (inputs, hyper-parameters, the rows of each replica) are in
// buffers that stay where they are until Grow. So a plan is made once and followed by all runs like it.
// A run launches the kernels of a segment one by one, unless the driver has recorded them: then it replays
// them with one call.
type plan struct {
	segments []segment
	runs     int    // number of runs that have followed the plan to its end
	used     uint64 // when a run has followed the plan last
}

// segment is a sequence of launches, and the step of the host that follows them.
type segment struct {
	launches  []Launch
	recording Recording // 0: the launches run one by one
	host      step      // nil in the last segment
}

// plans has the plans of an executable by their keys.
type plans struct {
	all   map[string]*plan
	clock uint64
	key   []byte
}

// mostPlans is the number of plans that an executable keeps. A new one replaces the
// plan that has not been used for the longest time.
const mostPlans = 32

// hosted is a step that may have work for the host in a run, besides launches.
type hosted interface{ onHost(f *frame) bool }

// follow runs a function according to its plan.
func (f *frame) follow(fn *function) error {
	p, err := f.plan(fn)
	if err != nil {
		return err
	}
	for i := range p.segments {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := p.segments[i].run(f, p.runs); err != nil {
			return err
		}
	}
	p.runs++
	return nil
}

// run runs a segment that has run before the given number of times. If the driver fails to record it, nothing
// is recorded any more.
func (p *segment) run(f *frame, ran int) error {
	b := f.exe.backend
	d := b.driver
	if p.recording == 0 && b.records && len(p.launches) > 0 {
		r, err := d.Record(p.launches, ran)
		b.records = err == nil
		p.recording = r
	}
	if p.recording == 0 || d.Replay(p.recording) != nil { // an error of the device returns with the launches
		for i := range p.launches {
			l := &p.launches[i]
			if err := d.Launch(l.Kernel, l.Groups, l.Args); err != nil {
				return err
			}
		}
	}
	if p.host == nil {
		return nil
	}
	return p.host.run(f)
}

// plan returns the plan of this run. It makes the plan if there is none.
func (f *frame) plan(fn *function) (*plan, error) {
	s := &f.exe.plans
	s.key = f.planKey(s.key[:0], fn)
	p := s.all[string(s.key)]
	if p == nil {
		var err error
		if p, err = f.newPlan(fn); err != nil {
			return nil, err
		}
		s.add(f.exe.backend.driver, p)
	}
	s.clock++
	p.used = s.clock
	return p, nil
}

// planKey appends all that the launches of a function depend on.
func (f *frame) planKey(key []byte, fn *function) []byte {
	key = append(append(key, fn.Name...), 0)
	key = binary.AppendUvarint(key, uint64(len(f.rows)))
	for _, n := range f.rows {
		key = binary.AppendUvarint(key, uint64(n))
	}
	alone := uint64(0)
	if f.alone() {
		alone = 1
	}
	key = binary.AppendUvarint(key, 2*uint64(len(f.cover))+alone)
	for _, c := range fn.changes {
		if c.changed {
			key = append(key, 1)
		} else {
			key = append(key, 0)
		}
	}
	return key
}

// newPlan returns the plan of a run, in which no kernel has been launched.
func (f *frame) newPlan(fn *function) (*plan, error) {
	p, launches := &plan{}, []Launch(nil)
	f.planned = &launches
	defer func() { f.planned = nil }()
	for _, s := range fn.steps {
		if h, ok := s.(hosted); ok && h.onHost(f) {
			p.segments, launches = append(p.segments, segment{launches: launches, host: s}), nil
			continue
		}
		if err := s.run(f); err != nil {
			return nil, err
		}
	}
	p.segments = append(p.segments, segment{launches: launches})
	return p, nil
}

// add adds a plan under the current key.
func (s *plans) add(d Driver, p *plan) {
	if s.all == nil {
		s.all = map[string]*plan{}
	}
	if len(s.all) >= mostPlans {
		oldest, least := "", uint64(math.MaxUint64)
		for key, p := range s.all {
			if p.used < least {
				oldest, least = key, p.used
			}
		}
		s.all[oldest].forget(d)
		delete(s.all, oldest)
	}
	s.all[string(s.key)] = p
}

// drop removes all plans: buffers have been replaced, or the executable is closed.
func (s *plans) drop(d Driver) {
	for _, p := range s.all {
		p.forget(d)
	}
	s.all = nil
}

// forget frees the recordings of a plan. Errors are ignored: the driver returns them again with the next
// launch.
func (p *plan) forget(d Driver) {
	for i := range p.segments {
		if r := p.segments[i].recording; r != 0 {
			_ = d.Forget(r)
			p.segments[i].recording = 0
		}
	}
}
