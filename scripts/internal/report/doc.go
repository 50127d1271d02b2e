// Package report is how measurements are kept (docs/results/*.json) and how pages show them. A
// Measurement is either a comparison, side by side, as benchpeers makes it, or a table with columns of
// its own. Either names the processor, the command and the day.
package report
