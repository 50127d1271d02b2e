// Kerneltable prints a table of the kernels of plugins/gpu, computed from their PTX alone. The figures are
// estimates, because the driver's compiler makes the final code. "Registers" is the largest number of values
// that are needed at one point, in words of 4 bytes. The inner loop is the innermost loop with the most fused
// multiply-adds. A round is one iteration of this loop, as clang has unrolled it. A second table
// counts the launches of some networks.
//
//	go run ./scripts/kerneltable
package main

import (
	"context"
	"fmt"
	"log"
	"regexp"
	"strings"

	"github.com/bnctl/bnctl/plugins/gpu"
)

func main() {
	fmt.Println("| kernel | shared memory, bytes | registers, estimated | FMAs a round | bytes read a round |" +
		" share of FMA in the inner loop, estimated |\n|---|---|---|---|---|---|")
	for _, entry := range strings.Split(gpu.PTX, ".visible .entry ")[1:] {
		name, body, _ := strings.Cut(entry, "(")
		k := read(body)
		in := k.innermost()
		fraction := "-"
		if in.all > 0 {
			fraction = fmt.Sprintf("%d %%", 100*in.fma/in.all)
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %s |\n", name, k.shared, k.live(), in.fma, in.bytes, fraction)
	}
	bytesTable()
	resnetTable()
	if err := launches(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// kernel has the instructions of one kernel.
type kernel struct {
	lines  []string
	labels map[string]int
	shared int
}

var (
	declared = regexp.MustCompile(`^\.shared .*\[(\d+)\]`)
	label    = regexp.MustCompile(`^(\w+):`)
	branch   = regexp.MustCompile(`\bbra(?:\.uni)?\s+(\w+);`)
	register = regexp.MustCompile(`%(?:rd|fd|r|f|p|rs)\d+\b`)
	loaded   = regexp.MustCompile(`^ld\.global(?:\.nc)?\.(?:v(\d)\.)?[a-z](\d+)`)
)

func read(body string) kernel {
	k := kernel{labels: map[string]int{}}
	for s := range strings.Lines(body) {
		s = strings.TrimSpace(s)
		if m := declared.FindStringSubmatch(s); m != nil {
			n := 0
			fmt.Sscan(m[1], &n)
			k.shared += n
		}
		if m := label.FindStringSubmatch(s); m != nil {
			k.labels[m[1]] = len(k.lines)
		} else if strings.HasSuffix(s, ";") && !strings.HasPrefix(s, ".") {
			k.lines = append(k.lines, s)
		}
	}
	return k
}

// round has the counts for one iteration of a loop: all instructions, fused multiply-adds, and the bytes that
// it moves.
type round struct{ all, fma, bytes int }

// loops returns the first and the last line of each loop.
func (k kernel) loops() (all [][2]int) {
	for i, s := range k.lines {
		if m := branch.FindStringSubmatch(s); m != nil && k.labels[m[1]] <= i {
			all = append(all, [2]int{k.labels[m[1]], i})
		}
	}
	return all
}

// innermost returns the innermost loop with the most fused multiply-adds.
func (k kernel) innermost() (best round) {
	loops := k.loops()
	for _, l := range loops {
		inner := true
		for _, other := range loops {
			inner = inner && (other == l || other[0] < l[0] || other[1] > l[1])
		}
		if r := k.round(l[0], l[1]); inner && (r.fma > best.fma || best.all == 0) {
			best = r
		}
	}
	return best
}

func (k kernel) round(from, to int) (r round) {
	for _, s := range k.lines[from : to+1] {
		r.all++
		if strings.HasPrefix(s, "fma.") {
			r.fma++
		}
		r.bytes += loadedBytes(s)
	}
	return r
}

// loadedBytes returns the number of bytes that an instruction loads from a buffer.
func loadedBytes(s string) int {
	m := loaded.FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	n, bits := 1, 0
	fmt.Sscan(m[1], &n)
	fmt.Sscan(m[2], &bits)
	return n * bits / 8
}

// live returns the largest number of words that are in registers at one point. A value is in registers from
// its first occurrence to its last. If it is used in a loop and comes from before the loop, it is in
// registers to the end of the loop.
func (k kernel) live() int {
	first, last := map[string]int{}, map[string]int{}
	for i, s := range k.lines {
		for _, r := range register.FindAllString(s, -1) {
			if _, ok := first[r]; !ok {
				first[r] = i
			}
			last[r] = i
		}
	}
	for i, s := range k.lines {
		m := branch.FindStringSubmatch(s)
		if m == nil || k.labels[m[1]] > i {
			continue
		}
		for r := range first {
			if first[r] < k.labels[m[1]] && last[r] >= k.labels[m[1]] {
				last[r] = max(last[r], i)
			}
		}
	}
	most := 0
	for i := range k.lines {
		n := 0
		for r := range first {
			if first[r] <= i && i < last[r] {
				n++
				if strings.HasPrefix(r, "%rd") || strings.HasPrefix(r, "%fd") {
					n++
				}
			}
		}
		most = max(most, n)
	}
	return most
}
