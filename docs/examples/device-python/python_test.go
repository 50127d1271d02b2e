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

// start starts the plugin, which ends with the test.
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

// TestConformance runs all conformance cases, like `bnctl plugin test`. The plugin must pass the cases of the
// operations that it implements, and refuse other operations. One device runs many cases, because starting
// Python starts more slowly than most cases.
func TestConformance(t *testing.T) {
	p := start(t)
	list, _, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lacks := slices.DeleteFunc(graph.Ops(), func(o graph.Op) bool { return slices.Contains(list[0].Ops, o) })
	// The plugin refuses dense nodes with additional leading axes, so these operations count as missing.
	lacks = append(lacks, graph.Dense, graph.DenseGradInput, graph.DenseGradWeight)
	devicetest.Run(t, func(ctx context.Context, precision string) (device.Device, error) {
		return p.Open(ctx, device.DefaultID, device.Options{Precision: precision})
	}, lacks...)
}
