package shm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// group returns the members of a group over one segment. Each member maps the segment,
// as in separate processes.
func group(t testing.TB, spin bool, replicas ...[]int) (*Group, []*Member) {
	t.Helper()
	m, err := NewGroup(7, len(replicas), spin)
	if errors.Is(err, Unsupported) {
		t.Skip("this system has no shared memory of this kind")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	var members []*Member
	for rank := range replicas {
		x, err := Join(m.Path(), 7, rank, replicas)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		members = append(members, x)
	}
	m.Seal()
	return m, members
}

// kinds lists the operations, types and shapes of the reduced values.
var kinds = []struct {
	op    collective.Op
	dtype tensor.DType
	shape []int
}{
	{collective.Sum, tensor.F32, []int{3}},
	{collective.MergeMoments, tensor.F64, []int{1 + 2*5}},
	{collective.Sum, tensor.F64, []int{7, 1000}}, // divided among the members
	{collective.Sum, tensor.F32, []int{}},
	{collective.Sum, tensor.F32, []int{300, 1001}}, // more than one round in either lane
	{collective.MergeMoments, tensor.F64, []int{1 + 2*20000}},
	{collective.Sum, tensor.F32, []int{0}},
}

// values returns the values of each rank for exchange n; replicas in absent have no rows.
func values(n int, replicas [][]int, absent ...int) [][]collective.Reduction {
	leaves := len(slices.Concat(replicas...))
	out := make([][]collective.Reduction, len(replicas))
	for rank, held := range replicas {
		for k, kind := range kinds {
			r := collective.Reduction{Op: kind.op, Result: tensor.New(kind.dtype, kind.shape...)}
			for i := range r.Result.Bytes {
				r.Result.Bytes[i] = 0x55 // as if a previous step had left bytes here
			}
			for _, node := range collective.Cover(leaves, held) {
				r.Partials = append(r.Partials, collective.Partial{Node: node, Value: collective.Reduce(kind.op, node,
					func(replica int) tensor.Tensor {
						if slices.Contains(absent, replica) {
							return tensor.Tensor{}
						}
						return random(kind.dtype, kind.shape, uint64(n), uint64(100*k+replica))
					})})
			}
			out[rank] = append(out[rank], r)
		}
	}
	return out
}

func random(d tensor.DType, shape []int, seeds ...uint64) tensor.Tensor {
	r := rand.New(rand.NewPCG(seeds[0], seeds[1]))
	t := tensor.New(d, shape...)
	for i := range t.Count() {
		if d == tensor.F32 {
			t.F32()[i] = float32(r.NormFloat64())
		} else {
			t.F64()[i] = 1 + r.Float64() // counts are not 0
		}
	}
	return t
}

// exchanges makes an exchange of all members and returns the errors by rank.
func exchanges(ctx context.Context, of func(rank int) collective.Exchanger, tag collective.Tag,
	v [][]collective.Reduction) []error {
	errs := make([]error, len(v))
	var wait sync.WaitGroup
	for rank := range v {
		wait.Go(func() { errs[rank] = of(rank).Start(ctx, tag, v[rank])() })
	}
	wait.Wait()
	return errs
}

// TestExchangeHasTheBitsOfTheHub compares both lanes with the in-process transport.
func TestExchangeHasTheBitsOfTheHub(t *testing.T) {
	for _, c := range []struct {
		replicas [][]int
		absent   []int
	}{
		{[][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, nil},
		{[][]int{{0, 2, 4}, {1, 3, 5, 6}}, []int{1, 2, 6}},
		{[][]int{{}, {0, 1, 2}, {3}}, []int{0}},
		{[][]int{{7}, {6}, {5}, {4}, {3}, {2}, {1}, {0}}, []int{0, 7}},
		{[][]int{{0, 1}}, nil},
		{[][]int{{0}, {1}}, []int{0, 1}},
	} {
		hub := collective.NewHub(len(slices.Concat(c.replicas...)), len(c.replicas))
		_, members := group(t, true, c.replicas...)
		for n := range 4 {
			tag := collective.Tag{Generation: 7, Step: uint64(n / 2), Lane: collective.Lane(n % 2), Name: "x"}
			want, got := values(n, c.replicas, c.absent...), values(n, c.replicas, c.absent...)
			errs := exchanges(t.Context(), func(rank int) collective.Exchanger { return hub.Member(rank) }, tag, want)
			errs = append(errs, exchanges(t.Context(), func(rank int) collective.Exchanger { return members[rank] },
				tag, got)...)
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for rank := range got {
				for k := range got[rank] {
					if !tensor.Equal(got[rank][k].Result, want[rank][k].Result) {
						t.Errorf("replicas %v, exchange %d: value %d of rank %d differs from the hub's", c.replicas, n, k, rank)
					}
				}
			}
		}
	}
}

// TestLanesAreApart makes exchanges of moments while an exchange of gradients waits for a late
// member.
func TestLanesAreApart(t *testing.T) {
	replicas := [][]int{{0}, {1}}
	m, members := group(t, false, replicas...)
	of := func(rank int) collective.Exchanger { return members[rank] }
	first, second := values(1, replicas), values(2, replicas)
	tags := []collective.Tag{{Lane: collective.Gradients, Name: "w"}, {Lane: collective.Gradients, Sequence: 1,
		Name: "v"}}
	wait := []func() error{members[0].Start(t.Context(), tags[0], first[0]),
		members[0].Start(t.Context(), tags[1], second[0])}
	for n := range 3 {
		if err := errors.Join(exchanges(t.Context(), of, collective.Tag{Sequence: uint64(n)},
			values(n, replicas))...); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); !slices.Equal(m.Missing(), []int{1}); {
		if time.Now().After(deadline) {
			t.Fatalf("missing %v, want rank 1", m.Missing())
		}
	}
	wait = append(wait, members[1].Start(t.Context(), tags[0], first[1]),
		members[1].Start(t.Context(), tags[1], second[1]))
	for _, w := range wait {
		if err := w(); err != nil {
			t.Error(err)
		}
	}
	for _, v := range [][][]collective.Reduction{first, second} {
		for k := range v[0] {
			if !tensor.Equal(v[0][k].Result, v[1][k].Result) {
				t.Errorf("value %d differs between the members", k)
			}
		}
	}
}

func TestMembersDisagree(t *testing.T) {
	replicas := [][]int{{0}, {1}}
	right := collective.Tag{Generation: 7, Step: 3, Name: "bn1"}
	tag := func(change func(*collective.Tag)) collective.Tag {
		other := right
		change(&other)
		return other
	}
	for what, c := range map[string]struct {
		tag    collective.Tag
		values []collective.Reduction
		says   string
	}{
		"another step": {tag(func(t *collective.Tag) { t.Step++ }), values(0, replicas)[1],
			"while this device is at"},
		"another sequence": {tag(func(t *collective.Tag) { t.Sequence++ }), values(0, replicas)[1],
			"while this device is at"},
		"another name": {tag(func(t *collective.Tag) { t.Name = "bn2" }), values(0, replicas)[1],
			"while this device is at"},
		"another generation": {tag(func(t *collective.Tag) { t.Generation++ }), values(0, replicas)[1],
			"different values"},
		"fewer values": {right, values(0, replicas)[1][1:], "different values"},
		"no values":    {right, nil, "different values"},
	} {
		_, members := group(t, false, replicas...)
		done := make(chan error)
		go func() { done <- members[1].Start(t.Context(), c.tag, c.values)() }()
		for _, err := range []error{members[0].Start(t.Context(), right, values(0, replicas)[0])(), <-done} {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want an error with %q", what, err, c.says)
			}
		}
		if err := members[0].Start(t.Context(), right, nil)(); err == nil {
			t.Errorf("%s: the lane goes on after that", what)
		}
	}
	_, members := group(t, false, replicas...)
	if err := members[0].Start(t.Context(), right, values(0, [][]int{{}, {0, 1}})[0])(); err == nil {
		t.Error("an exchange without this member's part works")
	}
}

// TestWaitEnds checks every event that ends the wait of a member.
func TestWaitEnds(t *testing.T) {
	replicas := [][]int{{0}, {1}}
	for _, lane := range []collective.Lane{collective.Moments, collective.Gradients} {
		for _, spin := range []bool{true, false} {
			for what, c := range map[string]struct {
				end  func(*Group, *Member, context.CancelFunc)
				want error
			}{
				"abort":   {func(m *Group, _ *Member, _ context.CancelFunc) { m.Abort() }, collective.Aborted},
				"context": {func(_ *Group, _ *Member, cancel context.CancelFunc) { cancel() }, context.Canceled},
				"close":   {func(_ *Group, x *Member, _ context.CancelFunc) { x.Close() }, Closed},
			} {
				m, members := group(t, spin, replicas...)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					done <- members[0].Start(ctx, collective.Tag{Lane: lane}, values(0, replicas)[0])()
				}()
				for m.Missing() == nil {
					time.Sleep(100 * time.Microsecond)
				}
				c.end(m, members[0], cancel)
				select {
				case err := <-done:
					if !errors.Is(err, c.want) {
						t.Errorf("%s: %v, want %v", what, err, c.want)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("%s does not end an exchange", what)
				}
				cancel()
			}
		}
	}
}

func TestJoinOfAnotherGroup(t *testing.T) {
	replicas := [][]int{{0}, {1}}
	m, _ := group(t, false, replicas...)
	again, err := NewGroup(8, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for what, join := range map[string]func() (*Member, error){
		"another generation": func() (*Member, error) { return Join(again.Path(), 7, 0, replicas) },
		"more members":       func() (*Member, error) { return Join(again.Path(), 8, 0, [][]int{{0}, {1}, {2}}) },
		"no such file":       func() (*Member, error) { return Join("/proc/0/fd/0", 8, 0, replicas) },
		"after Seal":         func() (*Member, error) { return Join(m.Path(), 7, 0, replicas) },
	} {
		if x, err := join(); err == nil {
			x.Close()
			t.Errorf("%s: joined", what)
		}
	}
}

// BenchmarkExchange measures one exchange, for several sizes. The members of the group are
// goroutines of this process.
func BenchmarkExchange(b *testing.B) {
	for _, ranks := range []int{2, 4, 8} {
		for lane, counts := range [][]int{{33, 2049}, {270000}} {
			for _, n := range counts {
				b.Run(fmt.Sprintf("%dx%d", ranks, 4*n), func(b *testing.B) {
					replicas := make([][]int, ranks)
					for r := range replicas {
						replicas[r] = []int{r}
					}
					_, members := group(b, ranks <= 2, replicas...)
					b.SetBytes(int64(4 * n))
					var wait sync.WaitGroup
					for rank, m := range members {
						part := collective.Partial{Node: collective.Node{From: rank, To: rank + 1},
							Value: tensor.New(tensor.F32, n)}
						v := []collective.Reduction{{Op: collective.Sum, Partials: []collective.Partial{part},
							Result: tensor.New(tensor.F32, n)}}
						wait.Go(func() {
							for i := range b.N {
								tag := collective.Tag{Lane: collective.Lane(lane), Sequence: uint64(i)}
								if err := m.Start(context.Background(), tag, v)(); err != nil {
									b.Error(err)
									return
								}
							}
						})
					}
					wait.Wait()
				})
			}
		}
	}
}
