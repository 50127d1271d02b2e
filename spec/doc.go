// Package spec reads the golden vectors of the numbered kernel classes and runs devices against
// them. Use it to check a device without the code that made the vectors: package devicetest
// compares devices with definitions in Go, this package compares them with stored bits.
//
// A vector is a JSON file with one .npy file for each operand and each result. README.md in this
// folder describes the files, and docs/classes.md, docs/int8.md and docs/numerics.md define the
// results. go run ./scripts/vectors makes the files with device/ref.
package spec
