package spec

import "embed"

// small has all vectors that are not in a folder called large.
//
//go:embed SHA256SUMS fma/1/*/*.json fma/1/*/*.npy int8/1/*/*.json int8/1/*/*.npy
var small embed.FS

// Small returns the vectors that are part of the program: those that are not in a folder called
// large. They cover every operation of every class in small shapes.
func Small() ([]*Vector, error) { return reader{folder: small, partial: true}.open() }
