package kernel

import "testing"

// TestPick: "auto" is the fastest set at a precision. Matrix units are slower than multiply-adds at
// float32, where they take three parts of each operand.
func TestPick(t *testing.T) {
	fastest := Sets()[0]
	if got, err := Pick("auto", true); err != nil || got != fastest {
		t.Errorf("auto with bfloat16: %v, %v, want %s", got, err, fastest.Name)
	}
	if got, err := Pick("auto", false); err != nil || got.Matrices() {
		t.Errorf("auto with float32: %v, %v, want one without matrix units", got, err)
	}
	for _, s := range Sets() {
		for _, name := range []string{s.Class, s.Name} {
			if got, err := Pick(name, false); err != nil || got.Class != s.Class {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
	if _, err := Pick("steam", false); err == nil {
		t.Error("steam: no error")
	}
}
