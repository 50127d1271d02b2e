// Package safetensors reads and writes .safetensors files: a length (u64), a JSON header
// with the type, shape and offsets of every tensor, and the elements. It makes the checks
// of the format's reference reader: no holes, no overlaps, no duplicate keys, no bytes
// after the last tensor.
//
// Use it for files that are known to have this format, or for tensors in memory; package
// formats accepts files of any format.
package safetensors
