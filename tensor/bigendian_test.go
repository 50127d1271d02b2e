package tensor_test

import (
	"go/build/constraint"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// Programs for big-endian processors end when they start, and only these programs do.
func TestBigEndian(t *testing.T) {
	checkArchitectures(t, "bigendian.go", map[string]bool{"s390x": true, "ppc64": true, "mips": true,
		"mips64": true, "amd64": false, "arm64": false, "riscv64": false, "ppc64le": false, "386": false,
		"arm": false, "loong64": false, "mipsle": false, "mips64le": false, "wasm": false})
}

// Programs for processors with 32 bits, and only these, do not compile. The error of the compiler is
// a sentence.
func Test32Bits(t *testing.T) {
	checkArchitectures(t, "words32.go", map[string]bool{"386": true, "arm": true, "mips": true, "mipsle": true,
		"amd64": false, "arm64": false, "riscv64": false, "ppc64le": false, "s390x": false, "loong64": false,
		"mips64le": false, "wasm": false})
}

// checkArchitectures checks which values of GOARCH a file is for.
func checkArchitectures(t *testing.T, file string, of map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	expr, err := constraint.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	for arch, want := range of {
		if got := expr.Eval(func(tag string) bool { return tag == arch }); got != want {
			t.Errorf("%s, %s: refused: %v, want %v", file, arch, got, want)
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
