package weightsync

import "testing"

// The limits of the numbers in a Sync are checked.
func TestParseSyncEnds(t *testing.T) {
	for text, ok := range map[string]bool{
		"async:0": true, "async:64": true, "async:65": false, "async:-1": false, "async:": false,
		"periodic:0": false, "periodic:1": true, "periodic:1048576": true, "periodic:1048577": false,
		"periodic:01": false, "allreduce": true, "template": true, "both": false,
	} {
		if w, err := ParseSync(text); (err == nil) != ok || ok && string(w) != text {
			t.Errorf("%s: %q, %v", text, w, err)
		}
	}
}

// TestNumbersOfSync: each method has only the number that belongs to it.
func TestNumbersOfSync(t *testing.T) {
	if n, ok := Sync("async:3").Span(); n != 3 || !ok {
		t.Errorf("async:3 has span %d, %v", n, ok)
	}
	if n, ok := Sync("periodic:4").Period(); n != 4 || !ok {
		t.Errorf("periodic:4 has period %d, %v", n, ok)
	}
	for _, w := range []Sync{AllReduce, "periodic:4"} {
		if _, ok := w.Span(); ok {
			t.Errorf("%s has a span", w)
		}
	}
}
