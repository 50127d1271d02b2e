package parallel

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/collective"
	"github.com/bnctl/bnctl/device"
)

// places makes meetings in this process that look as if the host were not in
// the middle, and counts those that are open.
type places struct {
	last       *collective.Hub
	made, open int
	none       bool // there is no place to be had
}

func (p *places) Meet(level string, _ uint64, members int) (device.Meeting, error) {
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

// far is a device that can meet others without the host, unless the place is
// out of its reach.
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

// TestGroupsMeetWhereAllCan looks at the level of groups, at who is told why it
// is not the best, and at the result, which is the same.
func TestGroupsMeetWhereAllCan(t *testing.T) {
	want, err := steps(opened(t, refs(t, 1), Config{}), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		devices []string // "near": without the level; "far"; "blind"
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
			t.Errorf("%s: %d meetings, want %d; it says %q, want %q", c.what, p.made, c.made, said, c.says)
		}
		if err := d.Close(); err != nil || p.open != 0 {
			t.Errorf("%s: Close: %v, with %d meetings left", c.what, err, p.open)
		}
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
		t.Errorf("Close: %v; %d meetings were made, want 2, and %d are left", err, p.made, p.open)
	}
}
