// Package foreign is what the readers of all foreign formats have in common:
// the File that they return, tensors that are read when asked for, and the
// checks that keep a hostile file from costing more than its own size.
package foreign
