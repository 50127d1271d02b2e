package main

import (
	"runtime/debug"

	"github.com/bnctl/bnctl/train"
)

// version adds the commit, where the build knows it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return train.Release + " (" + s.Value[:12] + ")"
			}
		}
	}
	return train.Release
}
