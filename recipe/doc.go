// Package recipe describes a training run: everything that determines its result, bit for bit.
//
// Use it to make, read and compare recipes. Start with Default, set the fields, and fill in the identity of
// model and data with SetModel and SetData.
// Check returns an error for fields that are invalid or contradict each other. JSON and Parse convert a
// recipe to the form stored in templates and checkpoints; Differences compares two recipes. A Schedule
// gives the learning rate of each step. Package train runs recipes. Package progress reads how far the run
// of a checkpoint has come.
package recipe
