// Package report defines how measurements are kept (docs/results/*.json) and how pages show
// them. A Measurement is either a comparison, side by side, as made by benchpeers, or a
// table with arbitrary columns. Either names the processor, the command and the day.
package report
