package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// The weight gradient of a replica is the sum of its chunks' gradients along the canonical
// tree, for any algorithm.
func TestWeightGradientsOfChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(40, 96))
	const rows, side = 8, 40 // chunks of 3, 3 and 2 rows
	for _, c := range []struct {
		name    string
		in, out int
		attrs   string
	}{
		{"windows over padded lines", 3, 20, "pad=[1,1,1,1], kernel=[3,3]"},
		{"windows of 1 by 1", 24, 40, "kernel=[1,1]"},
		{"direct", 24, 16, "pad=[1,1,1,1], kernel=[3,3]"},
		{"depthwise", 9, 9, "pad=[1,1,1,1], kernel=[3,3], groups=9"},
		{"tiles", 32, 48, "pad=[1,1,1,1], kernel=[3,3]"},
		{"tiles of 16 channels", 16, 16, "pad=[1,1,1,1], kernel=[3,3]"},
	} {
		x, dy := randomTensor(r, tensor.F32, []int{rows, c.in, side, side}),
			randomTensor(r, tensor.F32, []int{rows, c.out, side, side})
		if strings.HasPrefix(c.name, "tiles") {
			uneven(x.F32(), c.in, side*side)
		}
		checkChunks(t, opCase{c.name, "", fmt.Sprintf("x rows f32[%d,%d,%d], dy rows f32[%d,%d,%d]", c.in, side, side,
			c.out, side, side), "  y = conv_grad_weight(x, dy, " + c.attrs + ")\n"}, []tensor.Tensor{x, dy}, 3)
	}
	x, dy := randomTensor(r, tensor.F32, []int{10000, 7}), randomTensor(r, tensor.F32, []int{10000, 5})
	checkChunks(t, opCase{"dense", "", "x rows f32[7], dy rows f32[5]", "  y = dense_grad_weight(x, dy)\n"},
		[]tensor.Tensor{x, dy}, 4096)
}

// uneven clears channel 0 of the first three rows, except for one value. Tiles are then not precise enough
// for the channel in these rows, and windows compute it.
func uneven(x []float32, channels, positions int) {
	clear(x[1:positions])
	clear(x[channels*positions:][:positions])
	clear(x[2*channels*positions:][:positions])
}

// checkChunks compares a gradient with the sum of the gradients of chunks of
// the given number of rows.
func checkChunks(t *testing.T, c opCase, inputs []tensor.Tensor, chunk int) {
	t.Helper()
	for _, set := range kernel.Sets() {
		for _, precision := range []string{device.F32, device.BF16} {
			d, err := Provider{}.Open(context.Background(), device.DefaultID,
				device.Options{Kernels: set.Name, Threads: 2, Precision: precision})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			e := newNearLeast(t, d, c, inputs)
			rows := inputs[0].Shape[0]
			alone := func(i int) tensor.Tensor { return e.run(t, i*chunk, min((i+1)*chunk, rows)).Clone() }
			want := collective.Reduce(collective.Sum, collective.Root((rows+chunk-1)/chunk), alone)
			if got := e.run(t, 0, rows); !tensor.Equal(got, want) {
				t.Errorf("%s, %s, %s: other bits than its chunks", c.name, set.Name, precision)
			}
		}
	}
}

// TestOrderOfChannelSums compares sums over channels with a second implementation of docs/design/orders.md.
func TestOrderOfChannelSums(t *testing.T) {
	const channels = 5
	r := rand.New(rand.NewPCG(64, 64))
	for _, shape := range [][3]int{{3, 70, 70}, {4, 9, 9}, {7, 5, 5}, {3, 8, 8}, {70, 1, 1}, {2, 65, 190}} {
		rows, positions := shape[0], shape[1]*shape[2]
		x := randomTensor(r, tensor.F32, []int{rows, channels, shape[1], shape[2]})
		dy := randomTensor(r, tensor.F32, x.Shape)
		operands := fmt.Sprintf("x rows f32[%d,%d,%d]", channels, shape[1], shape[2])
		both := operands + fmt.Sprintf(", dy rows f32[%d,%d,%d]", channels, shape[1], shape[2])
		for _, set := range kernel.Sets() {
			run := func(operands, body string, in ...tensor.Tensor) []float64 {
				e := newNearLeast(t, openSet(t, set.Name, 2), opCase{"", "", operands, body}, in)
				return numbers(e.run(t, 0, rows))
			}
			moments := run(operands, "  m = moments(x)\n", x)
			sums := run(operands, "  s = channel_sum(x)\n", x)
			gradient := run(both, "  m = moments(x)\n  s = normalise_grad_sums(x, dy, m, over=\"replica\")\n", x, dy)
			for c := range channels {
				of := channelOf(x.F32(), c, channels, positions)
				m := orderedMoments(of, positions)
				s1, s2 := orderedGradient(of, channelOf(dy.F32(), c, channels, positions), m.mean, positions)
				sum, _ := orderedGradient(of, of, 0, positions)
				got := []float64{moments[1+c], moments[1+channels+c], gradient[c], gradient[channels+c], sums[c]}
				if want := []float64{m.mean, m.q, s1, s2, float64(float32(sum))}; !slices.Equal(got, want) {
					t.Errorf("%s, %v, channel %d: %v, want %v", set.Name, shape, c, got, want)
				}
			}
		}
	}
}

// channelOf returns the values of a channel, row by row.
func channelOf(x []float32, c, channels, positions int) (of []float32) {
	for at := c * positions; at < len(x); at += channels * positions {
		of = append(of, x[at:at+positions]...)
	}
	return of
}

// ordered sums one channel of a replica in the documented order. span sums a span, and add adds two sums.
func ordered[T any](x []float32, positions int, span func(from, to int) T, add func(a, b T) T) T {
	var tree func(from, to, size int) T
	tree = func(from, to, size int) T {
		n := (to - from + size - 1) / size
		if n == 1 && size > 4096 {
			return tree(from, to, 4096)
		}
		if n == 1 {
			return span(from, to)
		}
		half := 1
		for 2*half < n {
			half *= 2
		}
		return add(tree(from, from+half*size, size), tree(from+half*size, to, size))
	}
	return tree(0, len(x), max(1, 64/positions)*positions)
}

type moment struct{ n, mean, q float64 }

func orderedMoments(x []float32, positions int) moment {
	return ordered(x, positions, func(from, to int) moment {
		var first, a, b float64
		for at := from; at < to; at += 64 {
			var t, s, p float32
			block := x[at:min(at+64, to)]
			for _, v := range block {
				t += v
			}
			n := float64(len(block))
			k := float32(t * float32(1/n))
			for _, v := range block {
				d := v - k
				s += d
				p += float32(d * d)
			}
			if at == from {
				first = float64(k)
			}
			u := float64(s) / n
			e := (float64(k) - first) + u
			a += float64(n * e)
			b += (float64(p) - float64(float64(s)*u)) + float64(float64(n*e)*e)
		}
		n := float64(to - from)
		return moment{n, first + a/n, max(0, b-float64(a*(a/n)))}
	}, func(l, r moment) moment {
		d, n := r.mean-l.mean, l.n+r.n
		return moment{n, l.mean + float64(d*r.n)/n, (l.q + r.q) + float64(float64(float64(d*d)*l.n)*r.n)/n}
	})
}

func orderedGradient(x, dy []float32, mean float64, positions int) (s1, s2 float64) {
	sums := ordered(x, positions, func(from, to int) [2]float64 {
		var sum [2]float64
		k := float32(mean)
		for at := from; at < to; at += 64 {
			var a, b float32
			for i := at; i < min(at+64, to); i++ {
				a += dy[i]
				b += float32(dy[i] * (x[i] - k))
			}
			sum[0] += float64(a)
			sum[1] += float64(b)
		}
		sum[1] -= float64((mean - float64(k)) * sum[0])
		return sum
	}, func(a, b [2]float64) [2]float64 { return [2]float64{a[0] + b[0], a[1] + b[1]} })
	return sums[0], sums[1]
}
