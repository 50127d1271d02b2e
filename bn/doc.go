// Package bn is the mathematics of batch norm statistics: which moments become
// running statistics, how those of several replicas become one, and whether
// what came out can be trusted. It knows no devices.
//
// Use it to follow statistics during a training loop of your own (New, Next),
// to merge what replicas saw (Merge), and to judge statistics of any origin
// (Examine).
//
// Moments come from the devices as f64 [R,1+2C], one row per replica: the
// count n, then the means of the C channels, then their sums Q of squared
// deviations. Arithmetic is float64, in an order that depends on the replicas
// alone; running statistics are stored as float32.
package bn
