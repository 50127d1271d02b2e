package remote

import (
	"errors"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
)

// pooled returns a new pool, and adds it to the pools of the process until the test ends.
func pooled(t *testing.T) *shm.Pool {
	t.Helper()
	pool, err := shm.NewPool()
	if errors.Is(err, shm.Unsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	pools.Lock()
	defer pools.Unlock()
	pools.all = append(pools.all, pool)
	t.Cleanup(func() {
		pools.Lock()
		defer pools.Unlock()
		pools.all = slices.DeleteFunc(pools.all, func(p *shm.Pool) bool { return p == pool })
		if err := pool.Drop(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

// TestViewsOfPieces checks that values in a pool that the plugin has mapped are lent, with
// adjacent pieces as one view and short pieces inline. A message with more inline bytes than
// fit into a frame is written instead.
func TestViewsOfPieces(t *testing.T) {
	pool := pooled(t)
	f := &Fabric{zeroCopy: newZeroCopy(pool, 2, nil)}
	k := &announcedPool{number: 2}
	k.mapped.Store(true)
	f.announced[pool] = k
	chunk := pool.Alloc(4 * minLent)
	head, elsewhere := []byte("head"), make([]byte, wire.MaxFrame)
	whole := []wire.View{{Inline: []byte("headhead")}, {Pool: 2, Length: 2 * minLent},
		{Pool: 2, Offset: 3 * minLent, Length: minView}}
	for _, c := range []struct {
		pieces [][]byte
		want   []wire.View
	}{
		{[][]byte{head, nil, head, chunk[:minLent], chunk[minLent:][:8],
			chunk[minLent+8 : 2*minLent], chunk[3*minLent:][:minView]}, whole},
		{[][]byte{head, chunk[:minLent-1]}, nil},
		{[][]byte{head, elsewhere}, nil},
		{[][]byte{chunk, elsewhere}, nil},
	} {
		same := func(a, b wire.View) bool {
			return a.Pool == b.Pool && a.Offset == b.Offset && a.Length == b.Length && slices.Equal(a.Inline, b.Inline)
		}
		if got := f.views(c.pieces); !slices.EqualFunc(got, c.want, same) {
			t.Errorf("%d pieces are %d views, want %d: %+v", len(c.pieces), len(got), len(c.want), got)
		}
	}
}
