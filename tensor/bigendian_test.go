package tensor_test

import (
	"go/build/constraint"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// Programs for big-endian processors end when they start, and only these.
func TestBigEndian(t *testing.T) {
	text, err := os.ReadFile("bigendian.go")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	expr, err := constraint.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	for arch, big := range map[string]bool{"s390x": true, "ppc64": true, "mips": true, "mips64": true,
		"amd64": false, "arm64": false, "riscv64": false, "ppc64le": false, "386": false, "arm": false,
		"loong64": false, "mipsle": false, "mips64le": false} {
		if got := expr.Eval(func(tag string) bool { return tag == arch }); got != big {
			t.Errorf("%s: refused: %v, want %v", arch, got, big)
		}
	}
}

// Elements are little-endian, whatever the processor.
func TestLittleEndian(t *testing.T) {
	one := tensor.Scalar(float32(1))
	if got, want := one.Bytes, []byte{0, 0, 0x80, 0x3f}; string(got) != string(want) {
		t.Errorf("1 is stored as %v, want %v", got, want)
	}
}
