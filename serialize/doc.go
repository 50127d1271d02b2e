// Package serialize reads and writes bnctl's own files, templates and checkpoints, and
// makes a template of a checkpoint.
//
// Use it for bnctl's own files; package modelfile opens files of any program.
//
// A template (.bnm) is a models.Model. It contains no device and no replica,
// and the same model gives the same bytes. A checkpoint (.bnc) is a parallel
// model in training. Both are one container: a header in MessagePack, which
// holds the graph in text form, and raw tensors that can be mapped without
// copying; docs/format.md specifies it. Every byte of a file is covered by a
// checksum or must be zero, and every length is checked before memory is taken.
//
// Strip makes a template of a checkpoint.
package serialize
