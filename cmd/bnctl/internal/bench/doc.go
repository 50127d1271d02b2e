// Package bench measures how fast models and devices are on this machine: how many samples
// a second a model predicts or trains, how that grows with the number of devices, how long
// each node of a program runs compared with its lower bound, and how long single operations
// and exchanges of a device last.
//
// Use it to choose devices, threads and batches, and to see the cost of a change of code or
// machine. Inputs are made up in memory: no data is read, and results are discarded.
package bench
