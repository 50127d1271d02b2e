//go:build !linux

package remote_test

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/serve"
)

// levels lists the levels that this system has.
var levels = []string{device.Stream}

// groupLevels lists the levels of groups that can meet.
var groupLevels = [][]string{{device.Stream}}

// noshm is the reference device, which has no shared memory here anyway.
func noshm() { serve.Serve(ref.Provider{}) }
