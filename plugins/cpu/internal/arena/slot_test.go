package arena

import (
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
)

func TestPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		c := device.Capacity{Rows: r.IntN(9), Replicas: r.IntN(4)}
		var slots []*Slot
		for range r.IntN(40) {
			from := r.IntN(20)
			slots = append(slots, &Slot{Fixed: r.IntN(300), PerReplica: r.IntN(100), PerRow: r.IntN(200),
				From: from, To: from + r.IntN(6)})
		}
		total := assignOffsets(slots, c)
		for i, a := range slots {
			if a.offset < 0 || a.offset%alignment != 0 || a.offset+a.bytes(c) > total {
				t.Fatalf("slot of %d bytes at %d of %d", a.bytes(c), a.offset, total)
			}
			for _, b := range slots[:i] {
				together := a.From <= b.To && b.From <= a.To
				if together && a.offset < b.offset+b.bytes(c) && b.offset < a.offset+a.bytes(c) {
					t.Fatalf("slots %+v and %+v overlap", *a, *b)
				}
			}
		}
	}
}

func TestPlaceSharesMemory(t *testing.T) {
	chain := make([]*Slot, 10)
	for i := range chain {
		chain[i] = &Slot{Fixed: 1000, From: i, To: i + 1}
	}
	if got, want := assignOffsets(chain, device.Capacity{}), 2*chain[0].bytes(device.Capacity{}); got != want {
		t.Errorf("a chain of ten values takes %d bytes, want those of two, %d", got, want)
	}
}

// A gradient that is summed over eight replicas touches the memory of only one of them. Summed over five
// replicas, it touches the memory of two: one for the sum of the first four, and one for the last. Other
// values that use the memory at another time are still counted, and so are lanes.
func TestTouchedBytes(t *testing.T) {
	m := &Memory{}
	summed := &Slot{PerReplica: 1000, From: 1, To: 2, Summed: true}
	other := &Slot{Fixed: 3000, From: 3, To: 3}
	for _, c := range []struct {
		slots          []*Slot
		replicas, want int
	}{
		{[]*Slot{summed}, 8, 1088}, // includes the slack after it, in whole cache lines
		{[]*Slot{summed}, 5, 2112},
		{[]*Slot{other}, 8, 3072},
		{[]*Slot{summed, other}, 8, 3072},
	} {
		functions := []*Slots{{Arena: c.slots}}
		capacity := device.Capacity{Rows: c.replicas, Replicas: c.replicas}
		size := m.Lay(functions, capacity, 1)
		if got := m.TouchedBytes(functions, capacity, size); got != c.want {
			t.Errorf("%d replicas: %d of %d bytes are touched, want %d", c.replicas, got, size, c.want)
		}
		if got := m.TouchedBytes(functions, capacity, size+100); got != c.want+100 {
			t.Errorf("%d replicas, 100 bytes of lanes: %d bytes, want %d", c.replicas, got, c.want+100)
		}
	}
}
