package shm

import (
	"errors"
	"testing"
)

// newPools returns a pool, and the same pool as another process opens it. It skips the test on
// systems without shared memory.
func newPools(t *testing.T) (here, there *Pool) {
	here, err := NewPool()
	if errors.Is(err, Unsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if there, err = OpenPool(here.Path()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(there.Close(), here.Drop()); err != nil {
			t.Error(err)
		}
	})
	return here, there
}

// TestPoolIsShared checks that bytes written to a chunk by one side are found at its offset
// by the other.
func TestPoolIsShared(t *testing.T) {
	here, there := newPools(t)
	chunk := there.Alloc(10 * unit)
	at, ok := there.Offset(chunk[unit:])
	if copy(chunk[unit:], "gradients"); !ok {
		t.Fatal("a chunk lies in no pool")
	}
	if b, ok := here.At(int64(at), 9); !ok || string(b) != "gradients" {
		t.Errorf("%q, %v lies at %d", b, ok, at)
	}
	if _, ok := here.Offset(chunk); ok {
		t.Error("memory of one mapping is taken to be in another")
	}
}

// TestChunks checks that chunks never overlap, that Alloc uses the first gap that is large
// enough, and that freed memory is used again.
func TestChunks(t *testing.T) {
	p, _ := newPools(t)
	offset := func(n int) int {
		b := p.Alloc(n)
		if len(b) != n {
			t.Fatalf("%d bytes, want %d", len(b), n)
		}
		at, _ := p.Offset(b)
		return at
	}
	a, b, c := offset(1), offset(3*unit), offset(unit+1)
	if a != 0 || b != unit || c != 4*unit {
		t.Errorf("chunks begin at %d, %d, %d", a, b, c)
	}
	p.Free(b)
	p.Free(b + 1) // no chunk begins here
	if got := offset(4 * unit); got != 6*unit {
		t.Errorf("four pages lie at %d, where three are free", got)
	}
	if got := offset(2 * unit); got != b {
		t.Errorf("two pages lie at %d, want %d", got, b)
	}
	p.Reset()
	if got := offset(unit); got != 0 {
		t.Errorf("the first chunk lies at %d", got)
	}
	for _, n := range []int{0, -1, PoolBytes, PoolBytes + 1} {
		if p.Alloc(n) != nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
}

// TestForeignRanges checks that ranges that are not wholly in a pool are refused.
func TestForeignRanges(t *testing.T) {
	p, _ := newPools(t)
	for _, r := range [][2]int64{{-1, 1}, {0, -1}, {0, PoolBytes + 1}, {PoolBytes, 1}, {1 << 62, 1 << 62}} {
		if _, ok := p.At(r[0], r[1]); ok {
			t.Errorf("%d bytes lie at %d", r[1], r[0])
		}
	}
	if b, ok := p.At(PoolBytes, 0); !ok || len(b) != 0 {
		t.Error("nothing does not lie at the end")
	}
}
