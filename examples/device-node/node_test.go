// Package node_test judges the example as bnctl plugin test does.
package node_test

import (
	"os/exec"
	"testing"

	"github.com/bnctl/bnctl/device/conformance"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/remote"
)

// TestConformance judges the plugin in all cases: of the operations that it has, and that it refuses
// the others.
func TestConformance(t *testing.T) {
	if out, err := exec.Command("node", "--version").CombinedOutput(); err != nil {
		t.Skipf("Node.js is not installed (Debian: nodejs): %v %s", err, out)
	}
	o := conformance.Options{}
	if testing.Short() {
		o.Case = "exchange"
	}
	faults, err := conformance.Plugin(t.Context(), remote.Command{Name: "node", Path: "./bnctl-device-node"}, o,
		func(_ string, r devicetest.Result) {
			if r.Err != nil {
				t.Errorf("%s: %v\nrule: %s", r.Case.Name, r.Err, r.Rule())
			}
		}, func(j conformance.Judgement) { t.Log(j.Lines()) })
	if err != nil || faults > 0 {
		t.Errorf("%d faults, %v", faults, err)
	}
}
