// Package report makes a page about a training run, or about several side by side: curves,
// classes, confusions, mistakes, batch norms over time, where time went, and the recipe.
// The page is one HTML file that refers to no other.
//
// It reads the folder of a run's logs, or a checkpoint. Package train makes the runs.
package report
