// Package bench measures how fast models and devices are on this machine: how
// many samples a second a model predicts or trains, how that grows with the
// devices, which nodes of its program the time goes into beside what they need
// at least, and what single operations and exchanges of a device take.
//
// Use it to choose devices, threads and batches, and to see what a change of
// code or machine costs. Inputs are made up in memory: no data is read, and
// nothing that is computed is kept.
package bench
