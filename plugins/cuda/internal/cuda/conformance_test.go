package cuda

import (
	"context"
	"os"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
)

// TestOtherCapabilities checks that products of bytes have the same bits on GPUs of all compute
// capabilities. The other tests have 8.0.
func TestOtherCapabilities(t *testing.T) {
	for _, capability := range []string{"6.0", "6.1", "7.5"} {
		j := newJudge(t, capability, nil)
		for _, c := range devicetest.Cases() {
			if c.Name != "conv_int8: 3x3, padding, zero of x" && c.Name != "dense_int8: long sums" {
				continue
			}
			if j.fails(t, c, "", "") {
				t.Errorf("%s: %s fails", capability, c.Name)
			}
		}
	}
}

// TestConformance checks that the device keeps the contract and has the bits of its class. On the PTX
// machine, which is an interpreter, all cases need minutes. BNCTL_PTX=full runs all of them, and make test
// runs one in twelve.
func TestConformance(t *testing.T) {
	p, all := onMachine(t), os.Getenv("BNCTL_PTX") == "full"
	open := func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, "GPU-aaaa", device.Options{Precision: precision})
	}
	for i, c := range devicetest.Cases() {
		if !all && i%12 > 0 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			r := c.Judge(patient(t), open, device.F32)
			if r.Err != nil || len(r.Lacks) > 0 {
				t.Errorf("%v; it lacks %v\nrule: %s", r.Err, r.Lacks, c.Rule)
			}
		})
	}
}
