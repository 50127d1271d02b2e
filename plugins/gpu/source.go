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
	files, _ := kernels.ReadDir("kernels") // embedded: it exists
	for _, f := range files {
		b, _ := kernels.ReadFile("kernels/" + f.Name())
		s.Write(b)
	}
	return s.String()
}

// PTX has the kernels as PTX for sm_60, compiled by clang.
//
//go:embed kernels.ptx
var PTX string

// DotPTX has the kernels that multiply bytes, for sm_61, where they use dot products.
//
//go:embed dot.ptx
var DotPTX string

// MMA75PTX and MMA80PTX have kernels that multiply bytes with the matrix units of sm_75, and of sm_80.
var (
	//go:embed mma75.ptx
	MMA75PTX string
	//go:embed mma80.ptx
	MMA80PTX string
)
