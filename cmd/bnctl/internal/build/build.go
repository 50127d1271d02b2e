// Package build describes this build of bnctl: its release, and the commit of its source.
package build

import (
	"runtime/debug"
	"strings"

	"github.com/bnctl/bnctl/recipe"
)

// Release returns the tag of the build without its v, or the release that the build becomes.
func Release() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if tag, ok := strings.CutPrefix(info.Main.Version, "v"); ok && !strings.ContainsAny(tag, "-+") {
			return tag
		}
	}
	return recipe.Release
}

// Version returns the release and the commit, if the build knows it.
func Version() string {
	release := Release()
	const short = 12
	if c := Commit(); len(c) >= short {
		release += " (" + c[:short] + ")"
	}
	return release
}

// Commit returns the commit of the source; "" if the build does not know it.
func Commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}
