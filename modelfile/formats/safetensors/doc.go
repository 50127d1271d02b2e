// Package safetensors reads and writes .safetensors files: a length (u64), a
// JSON header that names type, shape and offsets of every tensor, and the
// elements. It checks what the format's reference reader checks: no holes, no
// overlaps, no duplicate keys, no bytes after the last tensor.
//
// Use it where a file is known to be of this format, or for tensors in memory;
// package formats takes files of any format.
package safetensors
