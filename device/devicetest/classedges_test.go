package devicetest

import (
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
)

// TestEdgesHaveTiles checks that all edge probes use tiles, since only tiles have guards.
func TestEdgesHaveTiles(t *testing.T) {
	for _, p := range edgeProbes() {
		program, err := p.program()
		if err != nil {
			t.Fatal(err)
		}
		f := program.Functions[0]
		l, _ := class.LayerOf(f, &f.Nodes[0])
		if a := class.Choose(l, device.F32, class.FMA); a != class.Winograd4 && a != class.Winograd5 {
			t.Errorf("%s has %v", p.title(), a)
		}
	}
}
