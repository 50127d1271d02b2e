// Package formats opens the files that other programs train into, takes off
// what training on many devices left around the model, and writes files that
// other programs read.
//
// Use it for the tensors of a file as they are. Package modelfile makes a model
// of any file, and package strip a clean file of it.
//
// Open tells a file's format by its content, never by its name. What comes
// out is a File: tensors with the file's own names, order and types, read when
// asked for, and the graph where the format has one. Without a graph, Identify
// finds the architecture in the zoo and Template fills one in: both by names and
// shapes, all of them, nothing by guess. Save writes tensors as they are.
package formats
