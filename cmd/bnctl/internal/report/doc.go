// Package report creates a page about a training run, or about several runs side by side: curves,
// classes, confusions, mistakes, batch norms over time, the use of time, and the recipe. The page is
// one HTML file without references to other files.
//
// It reads the folder of a run's logs, or a checkpoint. Package train makes the runs.
package report
