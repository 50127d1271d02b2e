package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/plugins/gpu"
)

// units describes an instruction that multiplies bytes.
type units struct {
	name     string
	begins   string // the beginning of the instruction
	products int    // of bytes, for each thread
	cycles   int    // cycles of a quarter of a multiprocessor for one warp
	ptx      string
	kernels  *regexp.Regexp
	trips    int // iterations of the inner loop that fetches quads
	passes   int // number of times the map is read or written
	terms    int // terms of a sum in a round
}

// The cycles follow from the rates of a multiprocessor: 64 dot products of four bytes per cycle, as for
// 32-bit multiply-adds (CUDA C++ Programming Guide, arithmetic throughput), and with matrix units 1,024 (7.5)
// or 2,048 (8.0) products of bytes.
var ofBytes = []units{
	{"dp4a", "dp4a.", 4, 2, gpu.DotPTX, regexp.MustCompile(`^conv_int8_block`), 8, 1, 32},
	{"m8n8k16", "mma.sync.aligned.m8n8k16", 32, 4, gpu.MMA75PTX, regexp.MustCompile(`int8_mma`), 1, 3, 64},
	{"m16n8k32", "mma.sync.aligned.m16n8k32", 128, 8, gpu.MMA80PTX, regexp.MustCompile(`int8_mma`), 1, 3, 64},
}

// work counts the instructions of a thread and the bytes that it loads, in one iteration of the loop that
// multiplies.
type work struct{ all, multiply, bytes int }

// figures returns the work of a kernel. The loop is the innermost one around all multiplications.
func (u units) figures(k kernel) (w work) {
	best := [2]int{0, len(k.lines) - 1}
	loops := k.loops()
	for _, l := range loops {
		if n := u.count(k.lines[l[0] : l[1]+1]); n == u.count(k.lines) && l[1]-l[0] < best[1]-best[0] {
			best = l
		}
	}
	for i := best[0]; i <= best[1]; i++ {
		times := 1
		for _, l := range loops {
			if l != best && l[0] >= best[0] && l[1] <= best[1] && i >= l[0] && i <= l[1] {
				times = u.trips
			}
		}
		s := k.lines[i]
		w.all += times
		if strings.HasPrefix(s, u.begins) {
			w.multiply++
		}
		w.bytes += times * loadedBytes(s)
	}
	return w
}

func (u units) count(lines []string) (n int) {
	for _, s := range lines {
		if strings.HasPrefix(s, u.begins) {
			n++
		}
	}
	return n
}

// busy returns the share of the time in which the units multiply, in percent. It assumes that a warp issues
// one instruction per cycle, also while the units multiply, and never waits for memory.
func (u units) busy(w work) int { return 100 * u.cycles * w.multiply / max(w.all, u.cycles*w.multiply) }

// bytesTable prints the kernels that multiply bytes.
func bytesTable() {
	fmt.Println("\n| kernel of bytes | instruction | shared memory, bytes | registers, estimated |" +
		" products a thread and round | instructions a round | operations per byte loaded |" +
		" share of the units' peak, estimated |\n|---|---|---|---|---|---|---|---|")
	for _, u := range ofBytes {
		for _, entry := range strings.Split(u.ptx, ".visible .entry ")[1:] {
			name, body, _ := strings.Cut(entry, "(")
			if !u.kernels.MatchString(name) {
				continue
			}
			k := read(body)
			w := u.figures(k)
			fmt.Printf("| %s | %s | %d | %d | %d | %d | %d | %d %% |\n", name, u.name, k.shared, k.live(),
				u.products*w.multiply, w.all, 2*u.products*w.multiply/max(1, w.bytes), u.busy(w))
		}
	}
}

// layer is a convolution of resnet50: channels, side of the map, outputs, side of the window, stride, and the
// number of these layers.
type layer struct{ c, side, o, window, stride, count int }

var resnet50 = []layer{
	{3, 224, 64, 7, 2, 1},
	{64, 56, 64, 1, 1, 1}, {64, 56, 64, 3, 1, 3}, {64, 56, 256, 1, 1, 4}, {256, 56, 64, 1, 1, 2},
	{256, 56, 128, 1, 1, 1}, {128, 56, 128, 3, 2, 1}, {128, 28, 128, 3, 1, 3}, {128, 28, 512, 1, 1, 4},
	{256, 56, 512, 1, 2, 1}, {512, 28, 128, 1, 1, 3},
	{512, 28, 256, 1, 1, 1}, {256, 28, 256, 3, 2, 1}, {256, 14, 256, 3, 1, 5}, {256, 14, 1024, 1, 1, 6},
	{512, 28, 1024, 1, 2, 1}, {1024, 14, 256, 1, 1, 5},
	{1024, 14, 512, 1, 1, 1}, {512, 14, 512, 3, 2, 1}, {512, 7, 512, 3, 1, 2}, {512, 7, 2048, 1, 1, 3},
	{1024, 14, 2048, 1, 2, 1}, {2048, 7, 512, 1, 1, 2},
}

// card describes a GPU. The clock is in GHz and the bandwidth in GB/s.
type card struct {
	name             string
	multiprocessors  int
	clock, bandwidth float64
	units            []string
}

var cards = []card{
	{"T4 (7.5)", 40, 1.59, 320, []string{"dp4a", "m8n8k16"}},
	{"A100 (8.0)", 108, 1.41, 2039, []string{"dp4a", "m16n8k32"}},
}

// milliseconds estimates the time of the convolutions of resnet50 for a number of pictures. The time of a
// layer is the time of its instructions or of its bytes, the longer of the two.
func (c card) milliseconds(u units, pictures int) (sum float64) {
	for _, l := range resnet50 {
		out := (l.side + l.stride - 1) / l.stride
		positions, terms := pictures*out*out, (l.c+3)/4*4*l.window*l.window
		kernel := kernelOf(u, map[bool]string{true: "first_int8", false: "conv_int8"}[l.c == 3 && u.trips == 1])
		w := u.figures(kernel)
		blocks := (positions + 127) / 128 * ((l.o + 63) / 64)
		cycles := float64(blocks * ((terms + u.terms - 1) / u.terms) * max(w.all, u.cycles*w.multiply))
		bytes := float64(pictures * (l.c*l.side*l.side*u.passes + l.o*out*out))
		sum += float64(l.count) * max(cycles/float64(c.multiprocessors)/c.clock, bytes/c.bandwidth) / 1e6
	}
	return sum
}

// kernelOf returns the kernel for 64 channels with this beginning of its name.
func kernelOf(u units, begins string) kernel {
	for _, entry := range strings.Split(u.ptx, ".visible .entry ")[1:] {
		name, body, _ := strings.Cut(entry, "(")
		if strings.HasPrefix(name, begins) && strings.HasSuffix(name, "64") {
			return read(body)
		}
	}
	panic("no kernel " + begins)
}

// resnetTable prints the estimated time of the convolutions of resnet50.
func resnetTable() {
	const pictures = 64
	fmt.Printf("\n| convolutions of resnet50 in bytes, %d pictures | instruction | ms, estimated |\n"+
		"|---|---|---|\n", pictures)
	for _, c := range cards {
		for _, u := range ofBytes {
			if slices.Contains(c.units, u.name) {
				fmt.Printf("| %s | %s | %.1f |\n", c.name, u.name, c.milliseconds(u, pictures))
			}
		}
	}
}
