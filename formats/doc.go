// Package formats opens checkpoints and models of other programs, removes the remains of
// training on many devices from around the model, and writes files that other programs
// read.
//
// Use it for the tensors of a file as they are. Package modelfile makes a model of any
// file, and package strip writes a clean file.
//
// Open recognises a file's format by its content, never by its name. It returns a File:
// tensors with the names, order and types of the file, read on demand, and the graph if the
// format has one. Without a graph, Identify finds the architecture in the zoo, and Template
// returns a model of it with the file's tensors. For both, the names and shapes of all
// tensors must fit. Save writes tensors as they are.
package formats
