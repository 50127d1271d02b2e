// Package foreign holds the common parts of the readers of all foreign formats: the File
// that they return, tensors that are read on demand, and the checks that keep a hostile
// file from costing more than its size.
package foreign
