// Package workers is the threads of the CPU device: a fixed pool that deals
// tasks in nanoseconds, each worker with memory of its own.
package workers
