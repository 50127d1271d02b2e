// Package report defines how measurements are stored (docs/results/*.json) and how pages show them. A
// Measurement is either a comparison of bnctl with peers, as benchpeers makes it, or a table with arbitrary
// columns. Both name the processor, the command and the day.
package report
