// Package tensorflow reads TensorFlow checkpoints: a tensor bundle is an index (a table in
// LevelDB's format) and one or more files of elements. A SavedModel contains its weights as
// a checkpoint of this kind. The graph is not read.
//
// Use it for checkpoints that are known to come from TensorFlow; package formats accepts
// files of any format.
//
// Variables of optimizers and metrics are left out and listed in File.Left. The suffix
// /.ATTRIBUTES/VARIABLE_VALUE of names is removed.
package tensorflow
