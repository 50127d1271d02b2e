package tensor

import (
	"runtime"
	"testing"
	"unsafe"
)

// Tensors in a region have a path at which the same bytes can be mapped again; small tensors have
// no path.
func TestRegion(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the heap serves here")
	}
	r := new(Region)
	large, small, loose := r.New(F32, 5, 1<<14), r.New(F32, 3), New(F32, 1<<15)
	for i := range large.F32() {
		large.F32()[i] = float32(i)
	}
	for i := range loose.F32() {
		loose.F32()[i] = -float32(i)
	}
	unused := r.New(U8, 1<<20)
	unused.U8()[0] = 1
	state := map[string]Tensor{"large": large, "rows": large.Rows(2, 4), "small": small, "loose": loose,
		"tied": loose.Reshape(1<<14, 2)}
	r.Adopt(state)
	for _, name := range []string{"large", "rows", "loose", "tied"} {
		v := state[name]
		m, at := MappedAt(v.Bytes)
		if m == nil {
			t.Errorf("%s is not in the region", name)
			continue
		}
		again, err := Map(m.Path())
		if err != nil {
			t.Fatal(err)
		}
		if b := again.Bytes[at:][:len(v.Bytes)]; string(b) != string(v.Bytes) {
			t.Errorf("%s: mapped at its path it has other bytes", name)
		}
		again.Close()
	}
	if m, _ := MappedAt(state["small"].Bytes); m != nil {
		t.Error("a small tensor takes a page")
	}
	if unsafe.SliceData(state["tied"].Bytes) != unsafe.SliceData(state["loose"].Bytes) {
		t.Error("two names of one tensor have memory each")
	}
	if state["loose"].F32()[7] != -7 || state["large"].F32()[9] != 9 {
		t.Error("values have changed")
	}
	if unused.U8()[0] != 0 {
		t.Error("what nobody keeps still has its memory")
	}
	before := len(mappings.all)
	r.Close()
	if len(mappings.all) >= before {
		t.Error("after Close the region is still mapped")
	}
	if x := (*Region)(nil).New(F32, 1<<16); len(x.Bytes) != 4<<16 {
		t.Error("nil is not the heap")
	}
}
