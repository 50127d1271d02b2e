// Package build describes this build of bnctl: its release, and the commit that it was built from.
package build

import (
	"runtime/debug"
	"strings"

	"github.com/bnctl/bnctl/recipe"
)

// Release returns the tag of the build without the letter v or, for a build without a tag, the next release.
func Release() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if tag, ok := strings.CutPrefix(info.Main.Version, "v"); ok && !strings.ContainsAny(tag, "-+") {
			return tag
		}
	}
	return recipe.Release
}

// Version returns the release and, if it is known, the commit.
func Version() string {
	release := Release()
	const short = 12
	if c := Commit(); len(c) >= short {
		release += " (" + c[:short] + ")"
	}
	return release
}

// Commit returns the commit that the program was built from, or "" if it is not known.
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
