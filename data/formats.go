package data

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/data/images"
)

// formatSet collects the formats of the picture files of a source, by their content.
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

// addExtension adds the format that belongs to the extension of a file.
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

// Formats returns the formats of the picture files of the source, sorted: "jpeg", "netpbm". They are
// known after Fingerprint. If the fingerprint does not read all files, the formats of the others follow
// from their extensions.
func (i Info) Formats() []string {
	all := map[string]bool{}
	for _, f := range i.formats {
		f.mu.Lock()
		maps.Copy(all, f.names)
		f.mu.Unlock()
	}
	return slices.Sorted(maps.Keys(all))
}
