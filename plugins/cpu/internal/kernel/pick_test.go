package kernel

import "testing"

// TestPick checks that "auto" is the fastest set at a precision. Matrix units are slower
// than multiply-adds at float32, because they need three parts of each operand.
func TestPick(t *testing.T) {
	fastest := Sets()[0].Name
	if got, err := Pick("auto", true); err != nil || got.Name != fastest {
		t.Errorf("auto with bfloat16: %v, want %s", err, fastest)
	}
	if got, err := Pick("auto", false); err != nil || got.Matrices() {
		t.Errorf("auto with float32: %v, want one without matrix units", err)
	}
	for _, s := range Sets() {
		for _, name := range []string{s.Class, s.Name} {
			if got, err := Pick(name, false); err != nil || got.Class != s.Class {
				t.Errorf("%s: %v, want class %s", name, err, s.Class)
			}
		}
	}
	if _, err := Pick("steam", false); err == nil {
		t.Error("steam: no error")
	}
}
