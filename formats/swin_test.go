package formats

import (
	"testing"

	"github.com/bnctl/bnctl/models"
)

// The index of distances is the same as torchvision's: row 84 for a position and itself, 0
// and 168 from corner to corner.
func TestSwinsIndexIsWritten(t *testing.T) {
	m, err := models.Build("swin-t", models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := Tensors(m)
	found := 0
	for i, x := range all {
		if x.Name != "features.1.0.attn.relative_position_index" {
			continue
		}
		found++
		v, err := x.Load()
		if err != nil || len(v.I64()) != 2401 || all[i-1].Name != "features.1.0.attn.relative_position_bias_table" {
			t.Fatalf("%v behind %s: %v", v, all[i-1].Name, err)
		}
		// The expected elements are those of torchvision's swin_t at (0,0), (0,1), (0,7), (0,48),
		// (48,0) and (10,33).
		for at, want := range map[int]int64{0: 84, 1: 83, 7: 71, 48: 0, 48 * 49: 168, 10*49 + 33: 43} {
			if got := v.I64()[at]; got != want {
				t.Errorf("element %d is %d, want %d", at, got, want)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d indices", found)
	}
	if got, err := Identify(&File{Tensors: all}); err != nil || got.Architecture != "swin-t" {
		t.Errorf("read again it is %v, %v", got, err)
	}
}
