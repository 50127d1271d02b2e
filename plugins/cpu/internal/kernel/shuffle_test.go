package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShuffle checks interleaved channels against the channels of the images, and that nothing else is
// written.
func TestShuffle(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	for channels := range 70 {
		for images := 1; images < 4; images++ {
			const count, gap = 5, 3
			dst := Pixels{guarded(r, count*(images*channels+gap)), images*channels + gap}
			want := slices.Clone(dst.Values)
			var of []Pixels
			for i := range images {
				x := Pixels{guarded(r, count*(channels+i)), channels + i}
				of = append(of, x)
				for p := range count {
					for c := range channels {
						want[p*dst.Step+c*images+i] = x.Values[p*x.Step+c]
					}
				}
			}
			for _, s := range Sets() {
				got := Pixels{slices.Clone(dst.Values), dst.Step}
				if s.Shuffle(got, of, channels, count); !sameBits(got.Values, want) {
					t.Fatalf("%s: %d images of %d channels: differs", s.Name, images, channels)
				}
			}
		}
	}
}

// TestEvery checks that every second or third channel is copied, and that nothing else is written.
func TestEvery(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for channels := range 70 {
		for step := 1; step < 4; step++ {
			const count, gap = 5, 3
			dst := Pixels{guarded(r, count*(channels+gap)), channels + gap}
			src := Pixels{guarded(r, max(0, count*(channels*step+1)-step)), channels*step + 1}
			want := slices.Clone(dst.Values)
			for p := range count {
				for c := range channels {
					want[p*dst.Step+c] = src.Values[p*src.Step+c*step]
				}
			}
			for _, s := range Sets() {
				got := Pixels{slices.Clone(dst.Values), dst.Step}
				if s.Every(got, src, step, channels, count); !sameBits(got.Values, want) {
					t.Fatalf("%s: channel %d of every %d: differs", s.Name, channels, step)
				}
			}
		}
	}
}

func BenchmarkShuffle(b *testing.B) {
	const count = 784
	for _, channels := range []int{29, 58, 116} {
		r := rand.New(rand.NewPCG(1, 1))
		x, y := Pixels{guarded(r, count*channels), channels}, Pixels{guarded(r, count*channels), channels}
		dst := Pixels{guarded(r, 2*count*channels), 2 * channels}
		for _, s := range Sets() {
			b.Run(fmt.Sprintf("%d/%s", channels, s.Name), func(b *testing.B) {
				b.SetBytes(int64(8 * count * channels))
				for b.Loop() {
					s.Shuffle(dst, []Pixels{x, y}, channels, count)
				}
			})
			b.Run(fmt.Sprintf("second of %d/%s", 2*channels, s.Name), func(b *testing.B) {
				b.SetBytes(int64(4 * count * channels))
				for b.Loop() {
					s.Every(x, dst, 2, channels, count)
				}
			})
		}
	}
}
