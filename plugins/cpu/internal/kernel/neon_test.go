package kernel

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestNEONLoopsMultiply counts the instructions of inner loops in the generated assembly. An ideal loop
// contains only multiply-adds, the fewest loads of operands that 32 registers of 128 bits require, and two
// instructions at its end. The share of multiply-adds must be at least 90 % of the share in an ideal loop.
func TestNEONLoopsMultiply(t *testing.T) {
	for _, c := range []struct {
		file, function, loop string
		products, loads      int // multiply-adds of the loop, and the fewest loads
		addresses            int // instructions that compute addresses, if the loop reads offsets from tables
	}{
		// For each of 4 values, the loop loads 4 vectors of weights and multiplies 5 positions by 4 vectors.
		{"window_arm64.s", "windowNEONp5", "four", 4 * 5 * 4, 4 + 5, 0},
		// For 3 columns of the kernel and 4 values, the loop loads weights each time. It reads 7 pixels.
		{"direct_arm64.s", "directNEONp5", "four", 3 * 4 * 5 * 4, 3*4 + 5 + 2, 0},
		// The loop multiplies 6 values by 4 vectors. Their addresses are two entries of tables. A negative entry
		// means zeros.
		{"gradient_arm64.s", "gradientNEONm6", "position", 6 * 4, 1 + 2, 6},
		// For each of 4 values, an ideal loop would load 4 vectors of weights at once, and multiply 6 tiles.
		{"winograd_arm64.s", "winogradProductNEONp6", "value", 4 * 6 * 4, 4 + 6, 0},
	} {
		products, all := loop(t, c.file, c.function, c.loop)
		allowed := float64(c.products) / float64(c.products+c.loads+c.addresses+2)
		if is := float64(products) / float64(all); products != c.products || is < 0.9*allowed {
			t.Errorf("%s: %d multiply-adds of %d instructions, want %d and a share of %.2f at least",
				c.function, products, all, c.products, 0.9*allowed)
		}
		t.Logf("%s: %d of %d, allowed %.3f", c.function, products, all, allowed)
	}
}

// loop counts multiply-adds and instructions from a label to the branch back to it.
func loop(t *testing.T, file, function, label string) (products, all int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, body, found := strings.Cut(string(text), "TEXT ·"+function+"(SB)")
	_, body, labelled := strings.Cut(body, "\n"+label+":\n")
	if !found || !labelled {
		t.Fatalf("%s has no %s with a label %s", file, function, label)
	}
	back := regexp.MustCompile(`\tB(GE|NE)? ` + label + `$`)
	for _, line := range strings.Split(body, "\n") {
		if !strings.HasPrefix(line, "\t") {
			t.Fatalf("%s: %s does not end in a branch back: %s", function, label, line)
		}
		all++
		if strings.Contains(line, "FMLA") {
			products++
		}
		if back.MatchString(line) {
			return products, all
		}
	}
	return products, all
}
