// Package torch reads files written by torch.save: zip archives (PyTorch 1.6 and later),
// legacy streams (0.1.12 to 1.5) and tar archives (before), and writes zip archives that
// torch.load(weights_only=True) accepts.
//
// Use it for files that are known to come from PyTorch, or for tensors in memory; package
// formats accepts files of any format.
//
// Nothing in a file is executed. Of a pickle, only plain containers and the functions that
// rebuild tensors are interpreted; any other object is read as a name, and is permitted
// only outside the chosen state dict.
package torch
