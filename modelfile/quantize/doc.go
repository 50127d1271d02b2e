// Package quantize makes an int8 template of a model: weights and feature maps become
// bytes, by the arithmetic of docs/int8.md. The ranges of feature maps come from the batch
// norms, without any data, or from samples.
//
// Use File, which writes the template and returns a report.
package quantize
