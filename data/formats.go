package data

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/data/images"
)

// formatSet collects the formats of the picture files of a source. The content of a file determines its
// format.
type formatSet struct {
	mu    sync.Mutex
	names map[string]bool // names of formats in lower case; "netpbm" for PGM and PPM
}

// add adds the format of a file, if it is a picture.
func (f *formatSet) add(file []byte) {
	if name, err := images.FormatOf(file); err == nil {
		f.addName(name)
	}
}

// addExtension adds the format that the extension of a file represents.
func (f *formatSet) addExtension(name string) {
	switch extension := strings.TrimPrefix(strings.ToLower(path.Ext(name)), "."); extension {
	case "jpg", "jfif":
		f.addName("jpeg")
	case "tif":
		f.addName("tiff")
	case "pnm":
		f.addName("ppm")
	case "":
	default:
		f.addName(extension)
	}
}

func (f *formatSet) addName(name string) {
	if name = strings.ToLower(name); name == "ppm" || name == "pgm" {
		name = "netpbm"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil {
		f.names = map[string]bool{}
	}
	f.names[name] = true
}

// Formats returns the formats of the picture files of the source, sorted: "jpeg", "netpbm". They are known
// after Fingerprint was called. If Fingerprint does not read all files, the extensions of the others
// determine their formats.
func (i Info) Formats() []string {
	all := map[string]bool{}
	for _, f := range i.formats {
		f.mu.Lock()
		maps.Copy(all, f.names)
		f.mu.Unlock()
	}
	return slices.Sorted(maps.Keys(all))
}
