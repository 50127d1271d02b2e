package kernel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/plugins/cpu/internal/cpu"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
)

// TestJudgeFindsPlants plants a fault of one step into each function in assembly that rounds sums to bytes.
// The CPU device must then fail a conformance case (Judge of package devicetest) that it passes without the
// fault.
func TestJudgeFindsPlants(t *testing.T) {
	open := func(ctx context.Context, precision string) (device.Device, error) {
		return cpu.Provider{}.Open(ctx, device.DefaultID, device.Options{Threads: 1, Precision: precision})
	}
	cases := devicetest.Cases()
	for _, p := range kernel.Int8Plants() {
		found := ""
		for _, c := range cases {
			if found != "" || !strings.HasPrefix(c.Name, p.Op+":") {
				continue
			}
			p.Do()
			planted := c.Judge(t.Context(), open, device.F32)
			p.Undo()
			if planted.Err != nil && c.Judge(t.Context(), open, device.F32).Err == nil {
				found = c.Name
			}
		}
		t.Logf("%s: %s", p.Name, found)
		if found == "" {
			t.Errorf("%s: a step is not found", p.Name)
		}
	}
}
