package parallel

import "context"

// Before the first step there is no state to lose. A run waits for a device that dies in
// this phase instead of replacing it, so that it begins with the requested devices.

// load loads the program on all members. An operation that one member refuses is decomposed for all,
// so load waits for the return of a member that is lost here.
func (r *recovery) load(ctx context.Context) error {
	for {
		l := r.program.loadOnce(ctx, r.group.members, r.group.timeouts)
		fresh := r.program.fresh(l.refused)
		switch {
		case l.err != nil:
			return l.err
		case l.refusal != nil && len(fresh) == 0:
			return l.refusal // names device and nodes
		case l.refusal == nil && len(l.lost) == 0:
			return nil
		}
		if err := r.replace(ctx, l.lost); err != nil {
			return err
		}
		if len(fresh) == 0 {
			continue
		}
		if r.program.decompose(fresh) != nil {
			return l.refusal
		}
		if err := r.group.members.free(); err != nil {
			return err
		}
	}
}

// replace drops members that were lost before they participated, and waits until they are
// opened again. If other members are left, it continues without a device that does not come
// back in time or that is lost again and again.
func (r *recovery) replace(ctx context.Context, lost []error) error {
	for _, err := range lost {
		if err := r.drop(err); err != nil {
			return err
		}
		r.losses.count++
	}
	for range lost {
		if r.config.Reopen == nil || r.losses.tooMany() && len(r.group.members) > 0 {
			break
		}
		if r.losses.tooMany() {
			return r.countLastLoss(lost[0])
		}
		m, err := r.nextWithin(ctx, lost[0])
		if err != nil && (ctx.Err() != nil || len(r.group.members) == 0) {
			return err
		}
		if err != nil {
			break
		}
		r.reopener.devices = append(r.reopener.devices, m.Device)
		r.group.admit(m)
		r.report(m, 0)
	}
	return r.group.assign()
}

// form forms the first group from the present members, and writes the state to each.
func (r *recovery) form(ctx context.Context) error {
	form := r.group.join
	if r.group.stale { // a member was lost, and the others now hold more replicas
		form = r.regroup
	}
	if err := r.after(ctx, form(ctx)); err != nil {
		return err
	}
	r.progressed()
	return nil
}
