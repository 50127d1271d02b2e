// Package decode reads the message of an ONNX file, within the memory that the file's size justifies. The
// elements of initializers stay in the file, or in files of external data. Calls of local functions are
// replaced by the functions' nodes.
package decode
