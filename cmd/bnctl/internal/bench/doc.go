// Package bench measures how fast models and devices are on this machine: how many samples per second a model
// predicts or trains, how this grows with the number of devices, how long each node of a program needs
// compared with its lower bound, and how long single operations and exchanges of a device take.
//
// Use it to choose devices, threads and batches, and to see the effect of a change of code or machine. It
// generates its inputs in memory, reads no data, and discards the results.
package bench
