package parallel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/tensor"
)

// places creates group memories in this process that appear to work without the host, and
// counts the open ones.
type places struct {
	last       *collective.Hub
	made, open int
	none       bool // a meeting place is not available
}

func (p *places) Meet(level string, _ uint64, members int) (device.GroupMemory, error) {
	if p.none {
		return nil, device.Errorf("", "Meet", device.Unavailable, "no memory for level %s", level)
	}
	p.made, p.open = p.made+1, p.open+1
	p.last = collective.NewHub(5, members)
	return &placed{Hub: p.last, places: p}, nil
}

type placed struct {
	*collective.Hub
	places *places
}

func (p *placed) Rendezvous() []byte { return []byte("here") }
func (p *placed) Joined()            {}
func (p *placed) Close() error       { p.places.open--; return nil }

// far is a device that can meet others without the host, unless it cannot reach the place.
type far struct {
	device.Device
	places *places
	blind  bool
}

func (f far) Info() device.Info {
	i := f.Device.Info()
	i.Levels = []string{device.Shm, device.CollShm, device.Stream}
	return i
}

func (f far) Join(ctx context.Context, g device.Group) error {
	switch {
	case g.Level != device.CollShm:
	case f.blind || string(g.Rendezvous) != "here":
		return device.Errorf("far", "Join", device.Unavailable, "cannot open %q", g.Rendezvous)
	default:
		g.Exchange = f.places.last.Member(g.Rank)
	}
	return f.Device.Join(ctx, g)
}

// TestGroupsMeetWhereAllCan checks the level of groups, the reported reason if it is not
// the best level, and the result, which is always the same.
func TestGroupsMeetWhereAllCan(t *testing.T) {
	want, err := steps(opened(t, refs(t, 1), Config{}), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		devices []string // "near": cannot meet without the host; "far": can; "blind": cannot reach the place
		none    bool
		made    int
		says    string
	}{
		{"all can", []string{"far", "far", "far"}, false, 1, ""},
		{"one lacks the level", []string{"far", "near"}, false, 0, ""},
		{"one alone", []string{"far"}, false, 0, ""},
		{"one is blind", []string{"far", "blind"}, false, 1, `cannot open "here"`},
		{"there is no place", []string{"far", "far"}, true, 0, "no memory"},
	} {
		p, said := &places{none: c.none}, ""
		var members []Member
		for i, kind := range c.devices {
			m := refs(t, 1)[0]
			if m.Name = fmt.Sprint(kind, i); kind != "near" {
				m.Device = far{m.Device, p, kind == "blind"}
			}
			members = append(members, m)
		}
		d := opened(t, members, Config{Rendezvous: p, Slower: func(why error) { said += why.Error() }})
		got, err := steps(d, 3)
		if err != nil || got != want {
			t.Errorf("%s: loss %v, error %v; one device gives %v", c.what, got, err, want)
		}
		if p.made != c.made || (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d memories, want %d; it says %q, want %q", c.what, p.made, c.made, said, c.says)
		}
		comm := &d.group.comm
		_, here := comm.hub.(*pointsHub)
		if here != (p.open == 0) || p.open > 1 || here == (comm.memory != nil) {
			t.Errorf("%s: they meet here: %v, with %d memories elsewhere", c.what, here, p.open)
		}
		if want := uint64(1 + len(c.says[:min(1, len(c.says))])); comm.generation != want { // a failed one counts
			t.Errorf("%s: generation %d, want %d", c.what, comm.generation, want)
		}
		said, p.made, d.group.stale = "", 0, true // a new group meets at the same level
		if _, err := steps(d, 1); err != nil || said != "" || c.says != "" && p.made > 0 || p.open > 1 {
			t.Errorf("%s: a new group has made %d memories, %d are left; %q, %v", c.what, p.made, p.open, said, err)
		}
		if err := d.Close(); err != nil || p.open != 0 {
			t.Errorf("%s: Close: %v, with %d memories left", c.what, err, p.open)
		}
	}
}

// The callback for the reason why devices meet at the host is optional.
func TestNobodyIsToldWhy(t *testing.T) {
	p := &places{none: true}
	members := refs(t, 2)
	for i := range members {
		members[i].Device = far{members[i].Device, p, false}
	}
	if _, err := steps(opened(t, members, Config{Rendezvous: p}), 1); err != nil {
		t.Error(err)
	}
}

// Members meet without the host if there is a meeting place, more than one device, a single
// rank, and support for the level on all devices.
func TestLevel(t *testing.T) {
	reach := func(levels ...string) *member {
		return &member{Member: Member{Device: stated{info: device.Info{Levels: levels}}}}
	}
	near, far := reach(device.Stream), reach(device.Stream, device.CollShm)
	for _, c := range []struct {
		name string
		comm communicator
		ms   members
		want string
	}{
		{"two", communicator{rendezvous: &places{}}, members{far, far}, device.CollShm},
		{"nowhere to meet", communicator{}, members{far, far}, device.Stream},
		{"alone", communicator{rendezvous: &places{}}, members{far}, device.Stream},
		{"it failed before", communicator{rendezvous: &places{}, slower: true}, members{far, far}, device.Stream},
		{"other ranks", communicator{rendezvous: &places{}, uplink: &fabric.Uplink{}}, members{far, far}, device.Stream},
		{"one cannot", communicator{rendezvous: &places{}}, members{far, near}, device.Stream},
	} {
		if got := c.comm.level(c.ms); got != c.want {
			t.Errorf("%s: level %s, want %s", c.name, got, c.want)
		}
	}
}

// slow is an uplink with an exchange that lasts until end receives a value, even if it is called off.
type slow struct{ end chan error }

func (slow) Nodes() []collective.Node { return []collective.Node{{From: 0, To: 1}} }

func (s slow) Complete(context.Context, collective.Tag, []collective.Reduction) error { return <-s.end }

// A group is settled when its last exchange with other ranks is over. Then calledOff reports
// whether another rank called the exchange off.
func TestSettled(t *testing.T) {
	for end, off := range map[error]bool{errPlanted: false, collective.Aborted: true} {
		synctest.Test(t, func(t *testing.T) {
			up := slow{make(chan error)}
			hub := collective.NewHubBelow(up, 2, 1)
			c := communicator{hub: &pointsHub{hub: hub}}
			part := collective.Partial{Node: collective.Node{From: 0, To: 1}, Value: tensor.Of([]float32{1}, 1)}
			wait := hub.Member(0).Start(t.Context(), collective.Tag{}, []collective.Reduction{{Op: collective.Sum,
				Partials: []collective.Partial{part}, Result: tensor.New(tensor.F32, 1)}})
			settled := false
			go func() {
				c.drain()
				settled = true
			}()
			if synctest.Wait(); settled || c.calledOff() {
				t.Errorf("an exchange is under way: settled %v, called off %v", settled, c.calledOff())
			}
			up.end <- end
			if err := wait(); !errors.Is(err, end) {
				t.Errorf("%v, want %v", err, end)
			}
			if synctest.Wait(); !settled || c.calledOff() != off {
				t.Errorf("%v: settled %v, called off %v", end, settled, c.calledOff())
			}
			also := device.Errorf("d", "Run", device.Aborted, "off")
			for err, is := range map[error]bool{collective.Aborted: off, also: off, errPlanted: false} {
				if g := (&Group{comm: c}); g.calledOff(err) != is {
					t.Errorf("the run was called off by another rank: %v, %v comes of it", off, err)
				}
			}
		})
	}
	elsewhere := communicator{hub: beyond{}}
	if elsewhere.drain(); elsewhere.calledOff() {
		t.Error("no other rank can be reached, and has called the run off")
	}
}

// TestNewGroupsMeetAnew loses a device of a group that meets without the host.
func TestNewGroupsMeetAnew(t *testing.T) {
	want, err := steps(opened(t, refs(t, 1), Config{}), 6)
	if err != nil {
		t.Fatal(err)
	}
	p := &places{}
	members := refs(t, 3)
	members[1].Device = &mayfly{members[1].Device, 3, device.Lost}
	for i := range members {
		members[i].Device = far{members[i].Device, p, false}
	}
	d := opened(t, members, Config{Rendezvous: p})
	if got, err := steps(d, 6); err != nil || got != want {
		t.Errorf("loss %v, error %v; one device gives %v", got, err, want)
	}
	if err := d.Close(); err != nil || p.made != 2 || p.open != 0 {
		t.Errorf("Close: %v; %d memories were made, want 2, and %d are left", err, p.made, p.open)
	}
}
