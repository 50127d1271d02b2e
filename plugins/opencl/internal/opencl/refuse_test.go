package opencl

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/opencl/internal/cl"
)

// TestSuits checks that each missing feature of a device is described in a sentence.
func TestSuits(t *testing.T) {
	const all = cl.Denorm | cl.InfNaN | cl.RoundToNearest | cl.FMA
	good := cl.Device{Name: "thing", Threads: 256, Local: 32 << 10, Single: all, Double: all, Compiler: true}
	if err := suits(good); err != nil {
		t.Error(err)
	}
	for want, lack := range map[string]func(d *cl.Device){
		"thing has no float64, in which much":  func(d *cl.Device) { d.Double = 0 },
		"thing lacks fused multiply-adds, ":    func(d *cl.Device) { d.Single &^= cl.FMA },
		"thing lacks subnormals, without":      func(d *cl.Device) { d.Single &^= cl.Denorm },
		"thing lacks subnormals infinities":    func(d *cl.Device) { d.Single &^= cl.Denorm | cl.InfNaN },
		"groups of 64 threads at most; the":    func(d *cl.Device) { d.Threads = 64 },
		"thing has 16384 bytes of local memor": func(d *cl.Device) { d.Local = 16 << 10 },
		"thing comes without a compiler":       func(d *cl.Device) { d.Compiler = false },
		"thing lacks rounding to nearest, wit": func(d *cl.Device) { d.Double &^= cl.RoundToNearest },
	} {
		d := good
		lack(&d)
		if err := suits(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestNoLibrary(t *testing.T) {
	p := Provider{Library: "/nowhere/libOpenCL.so.1"}
	list, reason, err := p.List(context.Background())
	const want = "/nowhere/libOpenCL.so.1 not found; install the OpenCL driver"
	if len(list) > 0 || err != nil || !strings.Contains(reason, want) {
		t.Errorf("List() = %v, %q, %v; want no devices, a reason and no error", list, reason, err)
	}
	_, err = p.Open(context.Background(), "0", device.Options{})
	if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), want) {
		t.Errorf("Open: %v", err)
	}
}
