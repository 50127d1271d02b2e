// Command neon writes the assembly of package kernel for arm64, one family per file. It is the
// counterpart of the parent folder's command, which writes it for amd64:
//
//	go run ./neon window
//
// writes ../window_arm64.s and ../window_stub_arm64.go. The tiles are sized to fill the 32
// registers of 128 bits. Instructions that Go's assembler lacks, for example a multiply-add by one
// element of a register, are written as a word with their text in a comment.
package main

import (
	"fmt"
	"os"
)

// families has a function for each family of kernels, by the name that the command accepts.
var families = map[string]func(*file){
	"window":           window,
	"gradient":         gradient,
	"direct":           direct,
	"depthwise":        depthwise,
	"elementwise":      elementwise,
	"activation":       activation,
	"channels":         channels,
	"int8":             int8Products,
	"pooling":          pooling,
	"winograd":         winograd,
	"winogradgradient": winogradgradient,
}

func main() {
	if len(os.Args) != 2 || families[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "neon: no family %q\n", os.Args[1:])
		os.Exit(2)
	}
	name := os.Args[1]
	f := newFile(name)
	families[name](f)
	if err := f.write("../" + name); err != nil {
		fmt.Fprintln(os.Stderr, "neon:", err)
		os.Exit(1)
	}
}
