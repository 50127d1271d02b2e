// Package batching collects the rows of many requests into batches: requests that arrive
// while a batch is computed form the next one. It only deals with tensors, not with models
// or devices.
//
// Use a Queue where many goroutines call one function that is faster on many rows at once.
// The function's result for a row must not depend on the other rows.
package batching
