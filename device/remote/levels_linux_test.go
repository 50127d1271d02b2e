package remote_test

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
)

// levels are the levels (transports) of sessions on this system.
var levels = []string{device.Stream, device.Shm}

// groupLevels lists the levels (transports) to test groups at. Each entry has the permitted levels.
var groupLevels = [][]string{{device.Stream}, {device.Shm}, {device.CollShm, device.Shm}}

func TestBestLevelFirst(t *testing.T) {
	d := open(t, start(t, "ref"))
	if got := d.Info().Levels; got[0] != device.Shm {
		t.Errorf("levels of a session without a bound: %v (%s)", got, d.Info().Note)
	}
}

// noshm serves the reference device in a process that cannot use its shared memory.
func noshm() {
	null, err := os.Open(os.DevNull)
	if err == nil {
		err = syscall.Dup3(int(null.Fd()), 4, 0)
	}
	if err != nil {
		panic(err)
	}
	serve.Serve(ref.Provider{})
}

// TestWithoutSharedMemory checks that a session works without shared memory, with a note
// that explains it.
func TestWithoutSharedMemory(t *testing.T) {
	d := open(t, start(t, "noshm"))
	if got, why := d.Info().Levels[0], d.Info().Note; got != device.Stream || !strings.Contains(why,
		"want 8389632") {
		t.Errorf("the session runs at %s (%s), want %s and why", got, why, device.Stream)
	}
	if _, err := load(t, d, regression(t)).Run(context.Background(), step(1, 2)); err != nil {
		t.Error(err)
	}
}
