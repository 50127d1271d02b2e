// Package job prepares a training run from names: a model, data, devices and
// files, new or resumed from a checkpoint. What comes out is a train.Session,
// which does the work.
//
// The order is always the same. Open opens the data; Prepare settles model and
// recipe; Start claims the files, opens the devices and loads the model on them.
// Between them a caller may look at what was settled, and change it. Close gives
// everything back.
//
// Use bnctl.Train for a run with nothing to look at on the way, and package
// train for models and data that are not in files.
package job
