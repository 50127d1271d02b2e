// Package serialize reads and writes templates and checkpoints, the file formats of bnctl, and
// turns checkpoints into templates.
//
// Use it for these two formats; package modelfile opens the files of other programs too.
//
// A template (.bnm) is a models.Model. It contains no device and no replica, and the same model
// gives the same bytes. A checkpoint (.bnc) is a parallel model in training. Both are one
// container: a header in MessagePack with the graph in text form, and raw tensors that can be
// mapped without copying; docs/format.md specifies it. Every byte of a file is covered by a
// checksum or must be zero, and every length is checked before memory is allocated.
//
// Strip makes a template of a checkpoint.
package serialize
