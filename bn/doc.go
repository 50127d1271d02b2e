// Package bn is the mathematics of batch norm statistics: which moments become running statistics,
// how the moments of several replicas are combined, and whether the result can be trusted. It has
// no knowledge of devices.
//
// Use it to follow statistics during your training loop (New, Next), to merge the moments of
// replicas (Merge), and to judge statistics of any origin (Examine).
//
// Moments come from the devices as f64 [R,1+2C], one row per replica: the count n, then the means
// of the C channels, then their sums Q of squared deviations. Arithmetic is float64, in an order
// that depends only on the replicas. Running statistics are stored as float32.
package bn
