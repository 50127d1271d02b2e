package tensor

import (
	"math"
	"math/bits"
)

// Stream separates the uses of one seed: draws of two streams are independent. The numbers are part
// of a recipe's meaning and never change.
type Stream uint32

// These are the streams. The n-th dropout node of a graph (n = 0, 1, ...) draws from StreamDropout +
// n; only dropout may have numbers above StreamDropout.
const (
	StreamInit    Stream = 1 // initial weights
	StreamOrder   Stream = 2 // order of the samples of an epoch
	StreamAugment Stream = 3 // augmentation of a sample
	StreamGlyphs  Stream = 4 // drawing of the built-in data
	StreamDelay   Stream = 5 // delays of asynchronous statistics and gradients
	StreamShapes  Stream = 6 // drawing of the built-in scenes
	StreamMix     Stream = 8 // mixing of the samples of a step
	StreamSample  Stream = 9 // samples that an epoch draws by weights
	StreamDropout Stream = 1 << 16
)

// Philox is the counter-based generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers:
// As Easy as 1, 2, 3; SC 2011). It has a key and no state: a draw is a function of the key and of the place
// of its use.
type Philox struct {
	Key [2]uint32
}

// NewPhilox returns the generator of a seed and a stream. Seed and stream together have more bits
// than a key, so the key is the first two words of the block that the key (low word, high word) of
// the seed gives at the counter (stream, 0, 0, 0).
func NewPhilox(seed uint64, s Stream) Philox {
	w := philox4x32([4]uint32{uint32(s)}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return Philox{Key: [2]uint32{w[0], w[1]}}
}

// Block returns four uniform words. The counter is (block, epoch, low word of
// sample, high word of sample); element e of a sample is word e%4 of its block
// e/4.
func (p Philox) Block(epoch uint32, sample uint64, block uint32) [4]uint32 {
	return philox4x32([4]uint32{block, epoch, uint32(sample), uint32(sample >> 32)}, p.Key)
}

// Draws returns the numbers of one sample in one epoch, from block 0 on.
func (p Philox) Draws(epoch uint32, sample uint64) Draws {
	return Draws{p: p, epoch: epoch, sample: sample, used: 4}
}

// philox4x32 is the bijection: ten rounds, after each round the Weyl constants are added to the key.
func philox4x32(c [4]uint32, k [2]uint32) [4]uint32 {
	const (
		m0, m1 = 0xD2511F53, 0xCD9E8D57
		w0, w1 = 0x9E3779B9, 0xBB67AE85
	)
	for range 10 {
		hi0, lo0 := bits.Mul32(m0, c[0])
		hi1, lo1 := bits.Mul32(m1, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ k[0], lo1, hi0 ^ c[3] ^ k[1], lo0}
		k[0] += w0
		k[1] += w1
	}
	return c
}

// Draws reads the blocks of one sample word by word. A copy continues at the position of the original.
type Draws struct {
	p      Philox
	epoch  uint32
	sample uint64
	next   uint32 // the block to draw next
	words  [4]uint32
	used   int // how many words of the block were returned already
	spare  float64
	spared bool
}

// Stream returns independent draws for the same sample and epoch, from their start. Their generator
// has the key of d's generator as seed.
func (d *Draws) Stream(s Stream) Draws {
	return NewPhilox(uint64(d.p.Key[1])<<32|uint64(d.p.Key[0]), s).Draws(d.epoch, d.sample)
}

// Uint32 returns the next word.
func (d *Draws) Uint32() uint32 {
	if d.used == len(d.words) {
		d.words = d.p.Block(d.epoch, d.sample, d.next)
		d.next++
		d.used = 0
	}
	w := d.words[d.used]
	d.used++
	return w
}

// Float32 returns Unit(d.Uint32()): uniform in [0, 1).
func (d *Draws) Float32() float32 { return Unit(d.Uint32()) }

// Float64 returns a number in [0, 1), uniform in steps of 2^-53. It uses two words.
func (d *Draws) Float64() float64 {
	hi, lo := uint64(d.Uint32()), uint64(d.Uint32())
	return float64((hi<<32|lo)>>11) * 0x1p-53
}

// Between returns a number in [lo, hi), uniform. It uses two words.
func (d *Draws) Between(lo, hi float64) float64 {
	return lo + float64((hi-lo)*d.Float64())
}

// Intn returns a number in [0, n), uniform without bias (Lemire 2019, Fast
// Random Integer Generation in an Interval). It panics unless 0 < n < 2^32.
func (d *Draws) Intn(n int) int {
	if n <= 0 || uint64(n) > math.MaxUint32 {
		panic("tensor.Draws.Intn: n must lie in 1 to 2^32-1")
	}
	m := uint32(n)
	hi, lo := bits.Mul32(d.Uint32(), m)
	if lo < m {
		for short := -m % m; lo < short; {
			hi, lo = bits.Mul32(d.Uint32(), m)
		}
	}
	return int(hi)
}

// Perm returns the numbers 0 to n-1 in random order (Fisher-Yates).
func (d *Draws) Perm(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := d.Intn(i + 1)
		p[i] = p[j]
		p[j] = i
	}
	return p
}

// Normal returns a number of the standard normal distribution. Every second call uses two words for
// the two numbers of NormalPair, which are returned one after the other.
func (d *Draws) Normal() float64 {
	if d.spared {
		d.spared = false
		return d.spare
	}
	u := d.Uint32()
	a, b := NormalPair(u, d.Uint32())
	d.spare, d.spared = b, true
	return a
}

// Unit turns a word into a float32 in [0, 1): its high 24 bits times 2^-24.
func Unit(w uint32) float32 { return float32(w>>8) * 0x1p-24 }

// NormalPair turns two uniform words into two independent standard normal
// numbers (Box and Muller 1958), at most 6.8 in size.
func NormalPair(u, v uint32) (a, b float64) {
	r := math.Sqrt(-2 * Log((float64(u)+0.5)*0x1p-32))
	turn := float64(v) * (2 * math.Pi * 0x1p-32)
	return float64(r * Cos(turn)), float64(r * Sin(turn))
}
