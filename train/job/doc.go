// Package job prepares a training run from names of a model, data, devices and
// files, new or resumed from a checkpoint. The result is a train.Session, which
// does the work.
//
// The calls have a fixed order. Open opens the data; Prepare sets Job.Model and
// Job.Recipe; Claim locks the output files; OpenDevices opens the devices;
// Start loads the model on them. Between these calls the caller may read and
// change the fields of the Job. Close releases everything.
//
// Use it for a run whose model or recipe you want to see or change before it
// starts. bnctl.Train makes all steps in one call; package train is for models
// and data that are not in files.
package job
