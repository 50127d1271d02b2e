// Package machine describes this machine: its processor's name, caches and cores, and how
// fast it reads, writes, copies and multiplies.
//
// Sizes are read from the system each time (System). Rates are measured by the first starts
// and kept in a folder of the user's (LoadOrMeasure). No result of any program depends on
// either: they only determine how work is divided. Facts that the system does not provide
// are assumed, and listed in Description.Assumed.
package machine
