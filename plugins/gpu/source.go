package gpu

import (
	"embed"
	"strings"
)

//go:generate sh make.sh

//go:embed kernels/*.cl
var kernels embed.FS

// Source returns the kernels in OpenCL C.
func Source() string {
	var s strings.Builder
	files, _ := kernels.ReadDir("kernels") // embedded: it is there
	for _, f := range files {
		b, _ := kernels.ReadFile("kernels/" + f.Name())
		s.Write(b)
	}
	return s.String()
}

// PTX is the same kernels as clang compiles them for CUDA: PTX of sm_60.
//
//go:embed kernels.ptx
var PTX string
