package main

import (
	"runtime/debug"
	"strings"

	"github.com/bnctl/bnctl/train"
)

// version is the tag of the build, or the release that it becomes, and the commit, where the build
// knows them.
func version() string {
	release := train.Release
	if info, ok := debug.ReadBuildInfo(); ok {
		if tag, ok := strings.CutPrefix(info.Main.Version, "v"); ok && !strings.ContainsAny(tag, "-+") {
			release = tag
		}
	}
	const short = 12
	if c := commit(); len(c) >= short {
		release += " (" + c[:short] + ")"
	}
	return release
}

// commit is that which the program was built from; "" where the build does not know it.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}
