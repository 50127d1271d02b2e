// Package cpu is the CPU device: it plans the memory of a program once, packs
// its weights once per version, and runs its functions over a pool of workers.
//
// Inside, rows of rank 2 and more keep their axis 0, the channels, last: an
// image is [H][W][C]. What a row or a replica yields depends on nothing but
// itself: sums run in an order fixed by shapes, however many workers there are.
//
// From the bottom up: kernel (inner loops), workers (threads), fusion (rewrites of
// functions), run (the executor: actions, their order, their memory, and how they
// run), plan (the compiler: an action for each node), convolution and operations
// (what nodes become), and this package: the contract of package device.
package cpu
