// Package workers has the threads of the CPU device: a fixed pool that distributes tasks in
// nanoseconds. Each worker has private memory.
package workers
