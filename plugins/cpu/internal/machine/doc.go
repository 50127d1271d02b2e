// Package machine says what this machine is: its processor's name, caches and
// cores, and how fast it reads, writes, copies and multiplies.
//
// Sizes come from the system each time (System), rates are measured by the first
// starts and kept in a folder of the user's (LoadOrMeasure). No result of any program depends
// on either: they say how work is cut, never what is computed. What the system does
// not tell is assumed, and Description.Assumed says so.
package machine
