package gpu

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/device/detection"
)

// TestConstants checks that numbers repeated in the kernels equal the constants of class fma and of the
// launches. (Bounds that guards compare sums with are tested by the conformance cases "at the edge".)
func TestConstants(t *testing.T) {
	wants := map[string]float64{"LEAST": class.TileLeast, "MOST": class.TileMost, "BLOCK": class.BlockPositions,
		"SPAN": class.SpanPositions, "GROUPED": grouped, "LONGEST": detection.Longest, "SIZE": Threads,
		"DIRECT_ROWS": float64(directBlock.rows), "DIRECT_COLUMNS": float64(directBlock.columns),
		"TERMS": termsOfBundle, "BUNDLES": bundlesOfChunk}
	for _, m := range regexp.MustCompile(`#define (\w+) (\S+)`).FindAllStringSubmatch(Source(), -1) {
		want, ok := wants[m[1]]
		if !ok {
			continue
		}
		delete(wants, m[1])
		got, err := strconv.ParseFloat(strings.TrimSuffix(m[2], "f"), 64)
		if err != nil || got != want {
			t.Errorf("%s is %s, want %v", m[1], m[2], want)
		}
	}
	for name := range wants {
		t.Errorf("no kernel has %s", name)
	}
}

// TestLocalMemory checks that no kernel needs more local memory than the limit.
func TestLocalMemory(t *testing.T) {
	kernels := 0
	for _, text := range []string{PTX, DotPTX, MMA75PTX, MMA80PTX} {
		for _, entry := range strings.Split(text, ".visible .entry ")[1:] {
			bytes := 0
			for _, m := range regexp.MustCompile(`(?m)^\s*\.shared .*\[(\d+)\];`).FindAllStringSubmatch(entry, -1) {
				n, _ := strconv.Atoi(m[1]) // the expression has digits
				bytes += n
			}
			if bytes > LocalMemory {
				t.Errorf("%d bytes of local memory, at most %d: %.40s", bytes, LocalMemory, entry)
			}
			if bytes > 0 {
				kernels++
			}
		}
	}
	if kernels < 20 {
		t.Errorf("%d kernels with local memory, want 20 at least", kernels)
	}
}

// TestBlocks checks that the kernels compute blocks of the size into which this package divides products.
func TestBlocks(t *testing.T) {
	seen := 0
	for _, m := range regexp.MustCompile(`\n[A-Z_]+\((\d+), (\d+)\)\n`).FindAllStringSubmatch(Source(), -1) {
		rows, _ := strconv.Atoi(m[1])
		columns, _ := strconv.Atoi(m[2])
		if got := blockOf(rows); got != (block{rows, columns}) {
			t.Errorf("a kernel has blocks of %d by %d, a product of %d rows %v", rows, columns, rows, got)
		}
		seen++
	}
	if seen < 4 {
		t.Errorf("%d kernels have blocks", seen)
	}
}
