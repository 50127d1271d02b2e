// Package ref is the living definition of every operation of package graph: a
// device in this process that computes with plain loops.
//
// Use it to look up what an operation means, and as the device of tests and
// examples.
//
// Values are held as float64. Sums are accumulated in float64, and a result
// whose type is f32 is rounded once, when the operation is done. At precision
// device.BF16 the operands of products are rounded to bfloat16 before, and
// float32 results that are stored so after that. That is all there is to
// precision; the loops say the rest. What a replica yields is computed from its
// own rows only, in their order.
//
// Whoever writes a device reads the loop here, and package devicetest compares
// the two. Nothing here is meant to be fast.
package ref
