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
			slots = append(slots, &Slot{fixed: r.IntN(300), perReplica: r.IntN(100), perRow: r.IntN(200),
				from: from, to: from + r.IntN(6)})
		}
		total := assignOffsets(slots, c)
		for i, a := range slots {
			if a.offset < 0 || a.offset%alignment != 0 || a.offset+a.bytes(c) > total {
				t.Fatalf("slot of %d bytes at %d of %d", a.bytes(c), a.offset, total)
			}
			for _, b := range slots[:i] {
				together := a.from <= b.to && b.from <= a.to
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
		chain[i] = &Slot{fixed: 1000, from: i, to: i + 1}
	}
	if got, want := assignOffsets(chain, device.Capacity{}), 2*chain[0].bytes(device.Capacity{}); got != want {
		t.Errorf("a chain of ten values takes %d bytes, want those of two, %d", got, want)
	}
}
