//go:build !linux

package remote_test

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
)

// levels lists the levels (transports) of sessions on this system.
var levels = []string{device.Stream}

// groupLevels lists the levels (transports) to test groups at.
var groupLevels = [][]string{{device.Stream}}

// noshm serves the reference device. On this system it never has shared memory.
func noshm() { serve.Serve(ref.Provider{}) }
