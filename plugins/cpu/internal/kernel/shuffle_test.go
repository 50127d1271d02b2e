package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Channels that lie by turns are those of the images, and nothing else is written.
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
		}
	}
}
