package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// Options.Machines lists machines that come and go. One goroutine calls it regularly. For each new
// machine another goroutine connects to the machine, opens its devices, and passes them to the run.
//
//	not listed --> listed: connect --> opened --> Joins --> a member of the run
//	                  ^       | error                          | lost
//	                  +-------+                                v
//	                                   listed: Reopen opens it again; not listed: parallel.Withdrawn

const (
	visitEvery = 2 * time.Second
	// missedVisits is the number of consecutive lists without a machine that make it count as gone. One
	// missing entry is not enough, because the list of a name server may be incomplete for a moment.
	missedVisits = 3
)

// visitors are the machines of Options.Machines.
type visitors struct {
	fleet  *Fleet
	joins  chan parallel.Member
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu        sync.Mutex
	byAddress map[string]*visitor // visitors by address
	notes     map[string]string   // last note about each address; key "": about the list
}

// visitor is a machine that is listed, or has open devices.
type visitor struct {
	missed  int  // number of consecutive lists without the machine
	devices int  // number of devices that are open, or that a run opens again
	leaving bool // a device was withdrawn; the other devices must follow, even if the machine is listed again
}

func newVisitors(f *Fleet) *visitors {
	v := &visitors{fleet: f, joins: make(chan parallel.Member), byAddress: map[string]*visitor{},
		notes: map[string]string{}}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v
}

// enter opens the devices of the machines that are listed when the fleet is opened. If the fleet has no
// other devices, enter waits for the first machine.
func (v *visitors) enter(ctx context.Context) error {
	f := v.fleet
	waiting, stop := context.WithTimeout(ctx, f.options.wait())
	defer stop()
	for first := true; ; first = false {
		list, err := f.options.Machines(waiting)
		switch {
		case err != nil && first:
			return err
		case err != nil:
			v.say("", err)
		}
		for _, address := range list {
			if f.options.Most != 0 && len(f.Members) >= f.options.Most {
				return nil
			}
			members, err := v.open(waiting, address)
			if err != nil {
				v.say(address, err)
			}
			f.Members = append(f.Members, v.fitting(members)...)
		}
		if len(f.Members) > 0 {
			return nil
		}
		select {
		case <-time.After(visitEvery):
		case <-waiting.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return problem.Failure("devices", fmt.Sprintf("no machine had a device for this run within %v",
				f.options.wait()), "start {devices-serve} on a machine, or name a device of this one")
		}
	}
}

// fitting returns the first members, up to Options.Most. The others join the run later.
func (v *visitors) fitting(members []parallel.Member) []parallel.Member {
	free := v.fleet.options.Most - len(v.fleet.Members)
	if v.fleet.options.Most == 0 || free >= len(members) {
		return members
	}
	v.wait.Go(func() { v.deliver(members[free:]) })
	return members[:free]
}

// deliver passes devices to the run, one after the other.
func (v *visitors) deliver(members []parallel.Member) {
	for _, m := range members {
		select {
		case v.joins <- m:
		case <-v.ctx.Done():
			_ = m.Device.Close()
		}
	}
}

// watch looks for machines until the fleet is closed.
func (v *visitors) watch() {
	v.wait.Go(func() {
		for {
			select {
			case <-v.ctx.Done():
				return
			case <-time.After(visitEvery):
			}
			list, err := v.fleet.options.Machines(v.ctx)
			if err != nil {
				v.say("", err)
				continue
			}
			v.miss(list)
			for _, address := range list {
				v.welcome(address)
			}
		}
	})
}

// miss counts the lists without a machine for every known machine.
func (v *visitors) miss(list []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for address, m := range v.byAddress {
		if slices.Contains(list, address) {
			m.missed = 0
			continue
		}
		m.missed++
	}
}

// welcome connects to a new machine, and passes its devices to the run.
func (v *visitors) welcome(address string) {
	v.mu.Lock()
	known := v.byAddress[address] != nil
	if !known {
		v.byAddress[address] = &visitor{}
	}
	v.mu.Unlock()
	if known {
		return
	}
	v.wait.Go(func() {
		members, err := v.open(v.ctx, address)
		if err != nil && v.ctx.Err() == nil {
			v.say(address, err)
		}
		v.deliver(members)
	})
}

// open opens the devices of a machine that the run can use. The error joins the errors of the machine
// and of the devices that could not be opened. A machine without a usable device is tried again.
func (v *visitors) open(ctx context.Context, address string) (members []parallel.Member, err error) {
	defer func() { v.setOpen(address, len(members)) }()
	f := v.fleet
	s, err := parseMachine(machinePrefix + address)
	if err != nil {
		return nil, err
	}
	list, err := f.list(ctx, s.name)
	if err != nil {
		return nil, err
	}
	targets, err := pickOnMachine(s, list)
	if err != nil {
		return nil, err
	}
	if len(f.Members) == 0 {
		f.device.Kernels = commonClass(f.device.Kernels, f.device.Precision, targets)
	}
	for _, t := range targets {
		m, e := v.openMember(ctx, t)
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		members = append(members, m)
	}
	return members, err
}

// setOpen records the number of open devices of a machine.
func (v *visitors) setOpen(address string, devices int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if devices == 0 {
		delete(v.byAddress, address)
		return
	}
	v.byAddress[address] = &visitor{devices: devices}
}

// openMember opens a device of a machine as a member of the run, if it has the run's kernel class.
func (v *visitors) openMember(ctx context.Context, t target) (parallel.Member, error) {
	f := v.fleet
	if err := t.info.CheckPrecision(f.device.Precision); err != nil {
		return parallel.Member{}, err
	}
	f.mu.Lock()
	p := f.providers[t.plugin]
	f.mu.Unlock()
	d, err := f.openTarget(ctx, p, t.name, t)
	if err != nil {
		return parallel.Member{}, err
	}
	has := func(m parallel.Member) bool { return m.Device.Info().Kernels == d.Info().Kernels }
	if len(f.Members) > 0 && !slices.ContainsFunc(f.Members, has) {
		return parallel.Member{}, errors.Join(device.Errorf(t.name, "Open", device.Unsupported,
			"its kernel class is %s, that of the run %s", d.Info().Kernels, f.class()), d.Close())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.targets[t.name] = t
	return parallel.Member{Name: t.name, Device: d, Foreign: true}, nil
}

// mayReopen reports whether a lost device may be opened again. It may not if its machine has left.
func (v *visitors) mayReopen(name string) bool {
	address := addressOf(name)
	v.mu.Lock()
	m := v.byAddress[address]
	gone := m != nil && (m.leaving || m.missed >= missedVisits)
	v.mu.Unlock()
	if gone {
		v.withdraw(name)
	}
	return !gone
}

// withdraw removes a device. A machine without devices counts as new if it is listed again.
func (v *visitors) withdraw(name string) {
	address := addressOf(name)
	v.mu.Lock()
	m := v.byAddress[address]
	last := false
	if m != nil {
		m.devices--
		m.leaving, last = true, m.devices == 0
	}
	if last {
		delete(v.byAddress, address)
	}
	v.mu.Unlock()
	f := v.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.targets, name)
	if p := f.providers[machinePrefix+address]; last && p != nil {
		delete(f.providers, machinePrefix+address)
		v.wait.Go(func() { _ = p.Close() }) // an error does not matter: the machine has left
	}
}

// giveBack is called when a run has ended and has closed the devices of machines. The machines then count
// as new for the next run.
func (v *visitors) giveBack() {
	first := map[string]bool{}
	for _, m := range v.fleet.Members {
		first[addressOf(m.Name)] = true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for address, m := range v.byAddress {
		if m.devices > 0 && !first[address] {
			delete(v.byAddress, address)
		}
	}
}

// addressOf returns the address in the name of a device on a machine.
func addressOf(name string) string {
	address, _, _ := strings.Cut(name, "/")
	return address
}

// say prints why the run does not use a machine, unless this was the last note about the machine.
func (v *visitors) say(address string, err error) {
	text, _ := problem.Split(err)
	v.mu.Lock()
	same := v.notes[address] == text
	v.notes[address] = text
	v.mu.Unlock()
	switch {
	case same:
	case address == "":
		v.fleet.note("the machines of the run cannot be listed: %s", text)
	default:
		v.fleet.note("%s does not take part: %s", address, text)
	}
}

// close ends the goroutines.
func (v *visitors) close() {
	v.cancel()
	v.wait.Wait()
}
