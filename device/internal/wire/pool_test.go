package wire

import "testing"

func TestPool(t *testing.T) {
	p := newPool()
	for _, n := range []int{0, 1, 4095, 4096, 4097, 16 << 10, 1<<20 + 9, 1 << 21, 1<<21 + 1, 5 << 20} {
		b := p.Get(n)
		if len(*b) != n {
			t.Fatalf("Get(%d) returns %d bytes", n, len(*b))
		}
		p.Put(b)
		again := p.Get(max(n, 1) / 2 * 2)
		if pooled := n <= 1<<21 && class(n) == class(max(n, 1)/2*2); pooled && again != b {
			t.Errorf("a buffer of %d bytes is not used again", n)
		}
		if other := p.Get(n); n > 0 && len(*again) > 0 && &(*other)[0] == &(*again)[0] {
			t.Errorf("a buffer of %d bytes is given twice", n)
		}
	}
	odd := make([]byte, 5000)
	p.Put(&odd)
	if b := p.Get(5000); &(*b)[0] == &odd[0] {
		t.Error("a buffer of another size is in the pool")
	}
}
