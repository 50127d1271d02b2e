package ref_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
)

// TestPeerGoldens computes the golden results again with the PyTorch of this machine, and compares them.
func TestPeerGoldens(t *testing.T) {
	if os.Getenv("BNCTL_PEERS") == "" {
		t.Skip("BNCTL_PEERS is not set; make test-peers installs PyTorch and sets it")
	}
	for _, name := range []string{"golden", "batchnorm", "bfloat16"} {
		var stderr bytes.Buffer
		script := exec.Command("/usr/bin/python3", "testdata/"+name+".py")
		script.Stderr = &stderr
		made, err := script.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, &stderr)
		}
		kept, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		a, b := bytes.Split(made, []byte("\n")), bytes.Split(kept, []byte("\n"))
		if len(a) != len(b) {
			t.Fatalf("%s: %d lines, kept are %d", name, len(a), len(b))
		}
		for i := range a {
			if err := sameJSON(a[i], b[i]); err != nil {
				t.Errorf("%s: line %d: %v", name, i+1, err)
			}
		}
	}
}

// sameJSON compares two JSON values. Numbers may differ by 1e-9.
func sameJSON(a, b []byte) error {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		return err
	}
	if err := json.Unmarshal(b, &y); err != nil {
		return err
	}
	return same(x, y)
}

func same(a, b any) error {
	switch x := a.(type) {
	case float64:
		if y, ok := b.(float64); ok && math.Abs(x-y) <= 1e-9*(1+math.Abs(y)) {
			return nil
		}
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			if err := same(x[i], y[i]); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			break
		}
		for key := range x {
			if err := same(x[key], y[key]); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		return nil
	default:
		if a == b {
			return nil
		}
	}
	return fmt.Errorf("%v, kept is %v", a, b)
}
