// Package batching makes batches of the rows of many requests: what is asked
// for while a batch is computed is the next batch. It knows tensors, and
// neither models nor devices.
//
// Use a Queue where many goroutines want the results of one function that
// takes rows together, and gives each row what it would give it alone.
package batching
