package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// exact lists the packages with arithmetic that affects results.
var exact = []string{"tensor", "device/collective", "graph", "device/ref", "bn", "data", "data/augmentation",
	"data/images", "models", "parallel", "parallel/losses", "parallel/pipeline", "parallel/spmd", "parallel/step",
	"parallel/weightsync",
	"train", "predict", "serialize", "models/fit", "modelfile/doctor", "modelfile/strip", "modelfile/export",
	"formats", "formats/caffe", "formats/keras", "formats/onnx",
	"formats/onnx/internal/batchaxis", "formats/onnx/internal/element",
	"formats/onnx/internal/encode", "formats/onnx/internal/fold",
	"formats/onnx/internal/node", "formats/onnx/internal/qdq",
	"formats/safetensors", "formats/tensorflow", "formats/torch",
	"device/class", "device/lifecycle", "plugins/gpu", "plugins/internal/bitwise",
	"plugins/cpu/internal/kernel", "plugins/cpu/internal/convolution", "plugins/cpu/internal/operations",
	"plugins/cpu/internal/fusion", "plugins/cpu/internal/plan", "plugins/cpu/internal/run",
	"plugins/cpu/internal/arena", "plugins/cpu/internal/layout", "plugins/cpu/internal/cpu"}

// mayFuse lists the files with arithmetic that does not affect results.
var mayFuse = []string{"graph/cost.go", "plugins/cpu/internal/arena/memory.go", "plugins/gpu/capacity.go", "models/fit/arrays.go"}

// fused finds the file and line of a fused multiply-add in an assembly listing.
var fused = regexp.MustCompile(`\(([^()]+\.go):(\d+)\)\tFN?M(?:ADD|SUB)[SD]\t`)

// On arm64 the compiler turns x*y + z into one operation with one rounding, unless the
// product is in a conversion: float64(x*y) + z. To get the same bits everywhere, the
// compiled code of these packages must not have this operation. (Assembly is different: it
// names its operations explicitly.)
func TestNothingIsFused(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for arm64, which takes a minute the first time; -short leaves that out")
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The listing must name files by their full paths, whatever GOFLAGS is.
	args := []string{"build", "-trimpath=false", "-gcflags=-S"}
	for _, pkg := range exact {
		args = append(args, "./"+pkg)
		files, err := filepath.Glob(pkg + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(files), err)
		}
		for _, f := range files {
			os.Stat(f) // shows go test what this test depends on, so that it does not reuse a cached result
		}
	}
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, listing[:min(len(listing), 2000)])
	}
	if !strings.Contains(string(listing), "TEXT\t") {
		t.Fatal("go build -gcflags=-S listed no assembly")
	}
	seen := map[string]bool{}
	for _, m := range fused.FindAllStringSubmatch(string(listing), -1) {
		file, err := filepath.Rel(root, m[1])
		if err != nil || seen[file+m[2]] || strings.HasPrefix(file, "..") || slices.Contains(mayFuse, file) {
			continue
		}
		seen[file+m[2]] = true
		if line(t, file, m[2], "math.FMA(") {
			continue // a call of math.FMA is explicit, and exact on every machine
		}
		t.Errorf("%s:%s: a product is added to something in one operation; write float64(x*y) + z", file, m[2])
	}
}

// line reports whether a line of a file has a text in it.
func line(t *testing.T, file, number, text string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	n, errNumber := strconv.Atoi(number)
	lines := strings.Split(string(b), "\n")
	if err != nil || errNumber != nil || n < 1 || n > len(lines) {
		t.Fatalf("%s:%s: %v, %v", file, number, err, errNumber)
	}
	return strings.Contains(lines[n-1], text)
}

// foreign finds functions of package math with last bits that depend on the machine: some
// are assembly that fuses where the processor can. (math.FMA is exact on all.)
var foreign = regexp.MustCompile(`\bmath\.(Exp|Log|Sin|Cos|Tan|Sinh|Atan|Asin|Acos|Pow|Cbrt|Hypot|Gamma|Erf)\w*\(`)

// mayCall lists the files with arithmetic that does not affect results.
var mayCall = []string{"bn/health.go"}

// The exact packages compute results with the functions of package tensor.
func TestFunctionsAreOurOwn(t *testing.T) {
	for _, pkg := range exact {
		files, err := filepath.Glob(pkg + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || slices.Contains(mayCall, name) {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if call := foreign.Find(text); call != nil {
				t.Errorf("%s calls %s...); package tensor has functions of the same bits everywhere", name, call)
			}
		}
	}
}
