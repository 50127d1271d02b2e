package tensor

import "testing"

// TestMarkImmutable: memory is marked until the last end, each of which counts once.
func TestMarkImmutable(t *testing.T) {
	a, b := New(F32, 3), New(F32, 3)
	first := MarkImmutable(map[string]Tensor{"a": a, "empty": New(F32, 0)})
	second := MarkImmutable(map[string]Tensor{"a": a.Reshape(3, 1)})
	if !IsImmutable(a.Bytes) || IsImmutable(b.Bytes) || IsImmutable(nil) {
		t.Errorf("immutable: %v, %v, %v", IsImmutable(a.Bytes), IsImmutable(b.Bytes), IsImmutable(nil))
	}
	first()
	first()
	if !IsImmutable(a.Bytes) {
		t.Error("the second mark has ended with the first")
	}
	if second(); IsImmutable(a.Bytes) {
		t.Error("the marks have not ended")
	}
}
