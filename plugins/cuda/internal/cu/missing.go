package cu

import (
	"strings"

	"github.com/bnctl/bnctl/plugins/internal/library"
)

// needed is what computing takes besides the driver, each by the names under
// which it is installed, newest first.
var needed = [][]string{
	{"libcuda.so.1"},
	{"libnvrtc.so.13", "libnvrtc.so.12"},
	{"libcublasLt.so.13", "libcublasLt.so.12"},
}

// Missing returns the libraries that computing needs and that are not found,
// each by its newest name. It loads none for good and creates no context.
func Missing() []string {
	var missing []string
	for _, names := range needed {
		lib, err := library.Open(names...)
		if err != nil {
			missing = append(missing, strings.Join(names, " or "))
			continue
		}
		lib.Close()
	}
	return missing
}
