package remote_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// TestConnectionThatBreaksDuringStart checks that the error for a plugin that another process kills during
// its start has the kind Lost, so that the plugin is started again. This is so even if the connection
// breaks some time before the process has ended. The error contains no code of gRPC.
func TestConnectionThatBreaksDuringStart(t *testing.T) {
	for role, kind := range map[string]device.Kind{"hangsup": device.Unavailable, "killed": device.Lost} {
		if role == "killed" && runtime.GOOS == "windows" {
			continue // on Windows signals do not end processes
		}
		p, err := remote.Start(t.Context(), plugin(role))
		if err == nil {
			p.Close()
		}
		if !errors.Is(err, kind) || strings.Contains(err.Error(), "rpc error") {
			t.Errorf("%s: %v, want %v", role, err, kind)
		}
	}
}
