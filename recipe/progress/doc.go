// Package progress describes how far a training run has come: its position, its best epoch, and where it
// found its data. A checkpoint stores this as a Record.
//
// Use it to read a checkpoint without package train, which continues its run.
package progress
