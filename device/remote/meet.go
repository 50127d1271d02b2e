package remote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/device/internal/shm"
)

// maxDistance is the maximum difference between the numbers of two ranks that have a link. Each link
// needs the memory of two rings.
const maxDistance = 7

// hello is a message between two ranks over the fabric. The lower rank offers
// memory, the higher rank answers, and the lower rank agrees or not.
type hello struct {
	Machine string // machine of Segment and Bell
	Segment string // path of the memory, or ""
	Bell    string // path of the end of the pipe that the other rank writes to
	Mark    shm.Mark
	Agreed  bool
}

// pairing sets up a link. Two ranks send messages over the existing fabric, and so find out whether
// they can open each other's files:
//
//	lower rank                                       higher rank
//	 offer: makes memory and a pipe,
//	        writes its mark into the memory
//	        ── machine, paths in /proc, mark ──────>  answer: another machine? then no
//	                                                   opens the memory; is the mark there?
//	                                                   makes its pipe, writes its mark
//	        <───── path of its pipe, its mark ──────
//	 agree: is that mark in the memory? opens
//	        the pipe
//	        ────────────── agreed ─────────────────>  link
//	 link
//
// The marks are random. Without them, two containers with the same machine name, or two processes
// with the same number in two PID namespaces, could mistake unrelated memory for the shared memory.
// A mark of zeros is refused: new memory has it too.
// If any step fails, there is no link, and messages go through the fabric.
type pairing struct {
	rank, peer int
	machine    string
	memory     []byte
	file       *os.File    // file of the memory, which the lower rank creates
	bell       [2]*os.File // this side's pipe
	other      *os.File    // end of the other side's pipe
}

// connectLinks creates the links of this rank, by rank. All ranks call it at the same time. They have
// the same phases in the same order, so that no two ranks wait for each other: offers to higher ranks,
// answers to lower ranks, agreements to higher ranks. An error is an error of the fabric.
func connectLinks(ctx context.Context, f fabric.Fabric) ([]*link, error) {
	rank, machine := f.Rank(), machineName()
	links := make([]*link, f.Size())
	var above, below []*pairing
	for r := max(0, rank-maxDistance); r < min(f.Size(), rank+maxDistance+1); r++ {
		switch m := (&pairing{rank: rank, peer: r, machine: machine}); {
		case r > rank:
			above = append(above, m)
		case r < rank:
			below = append(below, m)
		}
	}
	received := map[*pairing]hello{}
	type turn func(m *pairing, reply hello) hello
	each := func(all []*pairing, do turn, receives, sends bool) error {
		for _, m := range all {
			if receives {
				var err error
				if received[m], err = m.receive(ctx, f); err != nil {
					return err
				}
			}
			mine := do(m, received[m])
			if sends {
				if err := m.send(ctx, f, mine); err != nil {
					return err
				}
			}
		}
		return nil
	}
	end := func(m *pairing, reply hello) hello {
		links[m.peer] = m.link(reply.Agreed)
		return hello{}
	}
	err := each(above, (*pairing).offer, false, true)
	if err == nil {
		err = each(below, (*pairing).answer, true, true)
	}
	if err == nil {
		err = each(above, func(m *pairing, reply hello) hello {
			mine := m.agree(reply)
			end(m, mine)
			return mine
		}, true, true)
	}
	if err == nil {
		err = each(below, end, true, false)
	}
	if err != nil {
		for _, l := range links {
			if l != nil {
				l.close()
			}
		}
		for _, m := range append(above, below...) {
			m.end()
		}
		return nil, err
	}
	return links, nil
}

// send sends a message of this rank to the other, over the fabric.
func (m *pairing) send(ctx context.Context, f fabric.Fabric, what hello) error {
	b, err := json.Marshal(what)
	if err == nil {
		err = f.Send(ctx, m.peer, collective.Moments, b)
	}
	return m.wrap(err)
}

// receive receives a message of the other rank.
func (m *pairing) receive(ctx context.Context, f fabric.Fabric) (reply hello, err error) {
	b, err := f.Receive(ctx, m.peer, collective.Moments)
	if err == nil {
		err = json.Unmarshal(b, &reply)
	}
	return reply, m.wrap(err)
}

// wrap adds the other rank to err.
func (m *pairing) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("rank %d does not introduce itself: %w", m.peer, err)
	}
	return nil
}

// offer creates the memory of a link. If that fails, there will be no link. The memory is reserved at
// once, so that a machine with too little memory uses the fabric instead of failing during a run.
func (m *pairing) offer(hello) (mine hello) {
	f, err := shm.New(shm.Bytes)
	if err != nil || m.machine == "" {
		return mine
	}
	m.file = f
	if err = shm.Reserve(f, shm.Bytes); err == nil {
		m.memory, err = shm.Map(f, shm.Bytes)
	}
	if err == nil {
		m.bell[0], m.bell[1], err = os.Pipe()
	}
	if err != nil {
		m.end()
		return mine
	}
	mine = hello{Machine: m.machine, Segment: pathOf(f), Bell: pathOf(m.bell[1]), Mark: m.mark(true)}
	return mine
}

// mark writes a side's mark into the memory.
func (m *pairing) mark(first bool) shm.Mark {
	mark := shm.MarkOf(m.memory, first)
	_, _ = rand.Read(mark[:]) // never fails
	return *mark
}

// answer opens the memory that the lower rank offers.
func (m *pairing) answer(reply hello) (mine hello) {
	if reply.Machine == "" || reply.Machine != m.machine {
		return mine
	}
	f, err := os.OpenFile(reply.Segment, os.O_RDWR, 0)
	if err == nil {
		m.memory, err = shm.Map(f, shm.Bytes)
		f.Close()
	}
	if err == nil && reply.Mark != (shm.Mark{}) && *shm.MarkOf(m.memory, true) == reply.Mark {
		m.other, err = os.OpenFile(reply.Bell, os.O_WRONLY, 0)
	}
	if m.other == nil || err != nil {
		m.end()
		return mine
	}
	if m.bell[0], m.bell[1], err = os.Pipe(); err != nil {
		m.end()
		return mine
	}
	return hello{Bell: pathOf(m.bell[1]), Mark: m.mark(false), Agreed: true}
}

// agree opens the pipe in the higher rank's answer.
func (m *pairing) agree(reply hello) (mine hello) {
	if m.memory == nil || !reply.Agreed || reply.Mark == (shm.Mark{}) ||
		*shm.MarkOf(m.memory, false) != reply.Mark {
		return mine
	}
	f, err := os.OpenFile(reply.Bell, os.O_WRONLY, 0)
	m.other, mine.Agreed = f, err == nil
	return mine
}

// link returns the link, or nil if the two ranks have not agreed.
func (m *pairing) link(agreed bool) *link {
	if !agreed {
		m.end()
		return nil
	}
	pipe, err := shm.Link(m.memory, m.rank < m.peer, m.bell[0], m.other)
	if err != nil {
		m.end()
		return nil
	}
	bell := m.bell[1]
	m.memory, m.bell, m.other = nil, [2]*os.File{}, nil // the link owns them from now on
	m.end()
	return newLink(m.rank, m.peer, pipe, bell)
}

// end releases the resources that did not become part of a link. It may be called at any
// stage; afterwards the pairing makes no link.
func (m *pairing) end() {
	if m.memory != nil {
		_ = shm.Unmap(m.memory) // fails only if the memory cannot be freed
	}
	for _, f := range []*os.File{m.file, m.bell[0], m.bell[1], m.other} {
		if f != nil {
			_ = f.Close()
		}
	}
	*m = pairing{rank: m.rank, peer: m.peer, machine: m.machine}
}

// pathOf returns the path of a file of this process for other processes of the same machine and user.
func pathOf(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// machineName returns a name that is equal in two processes only if they can open each other's files
// through /proc. It consists of the ID of the boot and the ID of the PID namespace, because process
// numbers are unique in a namespace. "" means unknown.
func machineName() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}
