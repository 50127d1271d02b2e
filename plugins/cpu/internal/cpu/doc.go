// Package cpu is the CPU device: it plans the memory of a program once, packs
// its weights once per version, and runs its functions over a pool of workers.
//
// Internally, rows of rank 2 and more are stored with axis 0, the channels, last:
// an image is [H][W][C]. The result of a row or a replica depends only on that
// row or replica: sums run in an order fixed by shapes, for any number of workers.
//
// From the bottom up: kernel (inner loops), workers (threads), fusion (rewrites of
// functions), run (the executor: actions, their order, their memory, and how they
// run), plan (the compiler: an action for each node), convolution and operations
// (the actions of nodes), and this package: the contract of package device.
package cpu
