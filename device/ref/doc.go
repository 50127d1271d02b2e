// Package ref is the reference implementation of every operation of package
// graph: a device in this process that computes with plain loops.
//
// Use it to look up the meaning of an operation, and as the device of tests and
// examples.
//
// Values are held as float64. Sums are accumulated in float64, and a result
// of type f32 is rounded once, when the operation is done. At precision
// device.BF16 the operands of products are also rounded to bfloat16, and so are
// results that are stored as bfloat16. The results of a replica are computed
// only from its rows, in their order.
//
// Package devicetest compares other devices with this one. It is not meant to
// be fast.
package ref
