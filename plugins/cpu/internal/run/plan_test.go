package run

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
		total := Place(slots, c)
		for i, a := range slots {
			if a.Offset < 0 || a.Offset%alignment != 0 || a.Offset+a.Bytes(c) > total {
				t.Fatalf("slot of %d bytes at %d of %d", a.Bytes(c), a.Offset, total)
			}
			for _, b := range slots[:i] {
				together := a.From <= b.To && b.From <= a.To
				if together && a.Offset < b.Offset+b.Bytes(c) && b.Offset < a.Offset+a.Bytes(c) {
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
	if got, want := Place(chain, device.Capacity{}), 2*chain[0].Bytes(device.Capacity{}); got != want {
		t.Errorf("a chain of ten values takes %d bytes, want those of two, %d", got, want)
	}
}
