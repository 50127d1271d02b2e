package main

import (
	"runtime/debug"
	"strings"

	"github.com/bnctl/bnctl/train"
)

// version is the tag of the build, or the release that it becomes, and the commit, where the build
// knows them.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return train.Release
	}
	release := train.Release
	if tag, ok := strings.CutPrefix(info.Main.Version, "v"); ok && !strings.ContainsAny(tag, "-+") {
		release = tag
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + " (" + s.Value[:12] + ")"
		}
	}
	return release
}
