package vectors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const folder = "../../../spec"

// python skips the test if Python cannot import numpy.
func python(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import numpy").CombinedOutput(); err != nil {
		t.Skipf("numpy is not there for /usr/bin/python3 (Debian: python3-numpy): %s", out)
	}
}

// check runs the checker and returns its output.
func check(args ...string) (string, error) {
	out, err := exec.Command("/usr/bin/python3", append([]string{"check.py"}, args...)...).CombinedOutput()
	return string(out), err
}

// Numpy computes the bits of all golden vectors that spec/definitions.md defines: every vector of class
// int8/1, and every vector of class fma/1 for the operations below.
func TestNumpy(t *testing.T) {
	python(t)
	out, err := check("-v", folder)
	if err != nil || !strings.Contains(out, " 0 differ, ") {
		t.Fatalf("the checker: %v", err)
	}
	t.Log(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:])
	for _, part := range []string{"int8/1/", "conv/uneven", "conv/depthwise-4", "conv/depthwise-by-rows",
		"conv_grad_input/depthwise-by-rows", "conv_grad_input/groups", "conv_grad_weight/depthwise", "conv_transpose",
		"dense/", "dense_grad_input", "dense_grad_weight", "folded", "fma/1/moments", "select_moments",
		"normalise/sync", "normalise/replica", "normalise/frozen", "normalise_grad_sums", "normalise_grad_input/sync",
		"normalise_grad_input/replica", "normalise_grad_input/frozen", "normalise_grad_params", "batch_norm",
		"all_reduce", "softmax_xent/", "softmax_xent_grad", "correct", "sgd"} {
		for _, path := range paths(t, part) {
			if !strings.Contains(out, "ok "+path+"\n") {
				t.Errorf("%s was not computed", path)
			}
		}
	}
}

// paths returns the names of the vectors that contain part. The test fails without this name.
func paths(t *testing.T, part string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		name, isJSON := strings.CutSuffix(filepath.ToSlash(path), ".json")
		name = strings.TrimPrefix(name, folder+"/")
		if isJSON && strings.Contains(name, part) {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("no vector has %s in its name, %v", part, err)
	}
	return names
}

// The checker reports a result where a single bit is wrong.
func TestNumpyFindsABit(t *testing.T) {
	python(t)
	const name = "fma/1/dense/17-to-5-bias"
	list, err := filepath.Glob(filepath.Join(folder, name+".*"))
	if err != nil || len(list) == 0 {
		t.Fatal("no vector ", name)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".y.npy") {
			b[len(b)-4] ^= 1
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Dir(name), filepath.Base(path)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := check(dir)
	if err == nil || !strings.Contains(out, "y, element 14: ") || !strings.Contains(out, "1 of 15 differ") {
		t.Errorf("%v: %s", err, out)
	}
}
