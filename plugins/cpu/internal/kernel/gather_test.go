package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// gatherOrders returns several orders of n weights by name, with and without gaps.
func gatherOrders(r *rand.Rand, n int) map[string][]int {
	all := map[string][]int{}
	for i := range n {
		all["as they lie"] = append(all["as they lie"], i)
		all["reversed"] = append(all["reversed"], n+4-i)
		all["with gaps"] = append(all["with gaps"], 3*i+i%2)
		all["nine side by side"] = append(all["nine side by side"], i/9*12+8-i%9)
		all["one twice"] = append(all["one twice"], i%max(n-1, 1))
	}
	all["shuffled"] = r.Perm(n)
	return all
}

func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(40, 2))
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 69, 144} {
		for _, real := range []int{1, 15, 16, 17, 32, 63, 64} {
			for name, offsets := range gatherOrders(r, n) {
				for _, step := range []int{1, 9, n + 3} {
					checkGather(t, r, name, offsets, real, step)
				}
			}
		}
	}
}

// checkGather compares all sets with the definition of Gather, with every factor.
func checkGather(t *testing.T, r *rand.Rand, name string, offsets []int, real, step int) {
	t.Helper()
	n, width := len(offsets), padded(real)
	src := guarded(r, (real-1)*step+3*n+6)
	by := make([]float64, real)
	for c := range by {
		by[c] = r.NormFloat64()
	}
	for _, set := range Sets() {
		for _, factor := range []Factor{{}, {By: by}, {Round: set, By: by}} {
			want := make([]float32, n*width)
			for i, a := range offsets {
				for c := range real {
					v := []float32{src[a+c*step]}
					factor.Apply(v, c)
					want[i*width+c] = v[0]
				}
			}
			around := guarded(r, n*width+64)
			all := slices.Clone(around)
			set.Gather(all[32:32+n*width], width, real, src, NewOrder(offsets), step, factor)
			copy(around[32:], want)
			if !sameBits(all, around) {
				t.Errorf("%s: %d values %s, %d channels, step %d, factor %v, rounded %v: not what is said",
					set.Name, n, name, real, step, factor.By != nil, factor.Round != nil)
			}
		}
	}
}

// TestScatter checks that Gather inverts Scatter, and that Scatter writes nothing else.
func TestScatter(t *testing.T) {
	r := rand.New(rand.NewPCG(40, 3))
	for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 33, 144} {
		for _, real := range []int{1, 16, 17, 48, 63} {
			for name, offsets := range gatherOrders(r, n) {
				if name == "one twice" {
					continue
				}
				width, step, order := padded(real), 3*n+7, NewOrder(offsets)
				src := guarded(r, n*width)
				for _, set := range Sets() {
					around := guarded(r, real*step+64)
					all, want := slices.Clone(around), slices.Clone(around)
					for i, a := range offsets {
						for c := range real {
							want[32+a+c*step] = src[i*width+c]
						}
					}
					if set.Scatter(all[32:32+real*step], order, step, src, width, real); !sameBits(all, want) {
						t.Errorf("%s: %d values %s, %d channels: not what is said", set.Name, n, name, real)
					}
				}
			}
		}
	}
}

func BenchmarkScatter(b *testing.B) {
	for _, s := range []struct{ values, in, out int }{{16, 16, 16}, {64, 64, 64}, {64, 512, 64}} {
		n := 9 * s.values
		offsets := make([]int, n)
		for i := range offsets {
			offsets[i] = i%s.values*9 + i/s.values
		}
		order, src, dst := NewOrder(offsets), make([]float32, n*s.out), make([]float32, 9*s.in*s.out)
		for _, set := range Sets() {
			b.Run(fmt.Sprintf("%d of 9x%dx%d/%s", s.values, s.in, s.out, set.Name), func(b *testing.B) {
				b.SetBytes(int64(4 * len(src)))
				for b.Loop() {
					set.Scatter(dst, order, 9*s.in, src, s.out, s.out)
				}
			})
		}
	}
}

func BenchmarkGather(b *testing.B) {
	for _, s := range []struct{ taps, in, out int }{{1, 2048, 512}, {1, 256, 64}, {9, 512, 32}} {
		n := s.taps * s.in
		offsets, by := make([]int, n), make([]float64, s.out)
		for i := range offsets {
			offsets[i] = i%s.in*s.taps + i/s.in
		}
		order, src, dst := NewOrder(offsets), make([]float32, n*s.out), make([]float32, n*PanelLanes)
		for _, set := range Sets() {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s.taps, s.in, s.out, set.Name), func(b *testing.B) {
				b.SetBytes(int64(4 * len(src)))
				for b.Loop() {
					for c := 0; c < s.out; c += PanelLanes {
						width := min(s.out-c, PanelLanes)
						set.Gather(dst, width, width, src[c*n:], order, n, Factor{By: by}.From(c))
					}
				}
			})
		}
	}
}
