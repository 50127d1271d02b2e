// Package report makes a page of a training run, or of several side by side: curves, classes,
// confusions, mistakes, batch norms over time, where time went, what was computed with which
// recipe. The page is one HTML file that refers to no other.
//
// It reads what a run has left: the folder of its logs, or a checkpoint. Package train makes the runs.
package report
