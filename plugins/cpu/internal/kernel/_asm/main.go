// Command asm writes the assembly of package kernel, one family per file:
//
//	go run . window
//
// writes ../window_amd64.s and ../window_stub_amd64.go. All registers are
// named here rather than allocated: the tiles are sized to fill the register
// file exactly.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

// families has a function for each family of kernels, by the name that the command accepts.
var families = map[string]func(){
	"window":           window,
	"gradient":         gradient,
	"channels":         channels,
	"elementwise":      elementwise,
	"doubles":          doubles,
	"fetch":            fetch,
	"depthwise":        depthwise,
	"depthwiserows":    depthwiserows,
	"pooling":          pooling,
	"resample":         resample,
	"direct":           direct,
	"winograd":         winograd,
	"winogradgradient": winogradgradient,
	"bf16":             bf16,
	"pairs":            pairs,
	"pairsgradient":    pairsgradient,
	"directpairs":      directpairs,
	"matrix":           matrix,
	"int8":             int8Products,
	"gather":           gather,
	"activation":       activation,
	"shuffle":          shuffle,
}

func main() {
	flag.Parse()
	name := flag.Arg(0)
	family, ok := families[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "asm: no family %q\n", name)
		os.Exit(2)
	}
	for key, value := range map[string]string{
		"out": "../" + name + "_amd64.s", "stubs": "../" + name + "_stub_amd64.go", "pkg": "kernel",
	} {
		if err := flag.Set(key, value); err != nil {
			fmt.Fprintln(os.Stderr, "asm:", err)
			os.Exit(1)
		}
	}
	ConstraintExpr("!purego")
	family()
	Generate()
}
