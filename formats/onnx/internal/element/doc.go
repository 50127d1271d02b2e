// Package element reads and writes the elements of constants of all types, and the offsets of elements in
// tensors. length.go represents the length of the batch, which a file leaves open, among integers.
package element
