package python_test

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
)

// start starts the plugin for the length of a test.
func start(t *testing.T) *remote.Plugin {
	t.Helper()
	needs := exec.Command("/usr/bin/python3", "-c", "import grpc, numpy, google.protobuf")
	if out, err := needs.CombinedOutput(); err != nil {
		t.Skipf("python3-grpcio, python3-numpy and python3-protobuf are not installed: %s", out)
	}
	p, err := remote.Start(context.Background(), remote.Command{Name: "python", Path: "./bnctl-device-python",
		Log: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// TestConformance judges the plugin like `bnctl plugin test`, in all cases of the
// operations that it has, and in a few that it has to refuse.
func TestConformance(t *testing.T) {
	p := start(t)
	list, _, err := p.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	used := &pool{plugin: p}
	defer used.close()
	fresh := func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, device.DefaultID, device.Options{Precision: precision})
	}
	refused := 0
	for _, c := range devicetest.Cases() {
		lacks := slices.ContainsFunc(c.Ops, func(o graph.Op) bool { return !slices.Contains(list[0].Ops, o) })
		if lacks {
			if refused++; refused > 3 {
				continue
			}
		}
		open := fresh
		if lacks || len(c.Ops) == 1 { // a case about an operation, not about the life of a device
			open = used.open
		}
		t.Run(c.Name, func(t *testing.T) {
			if r := c.Judge(t.Context(), open, device.F32); r.Err != nil {
				t.Errorf("%v\nrule: %s", r.Err, c.Rule)
			}
		})
	}
}
