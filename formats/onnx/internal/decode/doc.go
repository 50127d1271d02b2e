// Package decode reads the message of an ONNX file. It limits its memory according to the size of the
// file. The elements of initializers stay in the file, or in files of external data. Calls of local
// functions are replaced by the nodes of the functions.
package decode
