// Package collective adds the values that replicas have computed, in one fixed order.
//
// Use it to write a device, or a transport of sums between devices. Programs that
// train use package parallel instead.
//
// The order is a canonical binary tree over the R replicas of a run (see Node). A sum
// therefore depends only on the replicas' values. It does not depend on the number of
// devices, on the assignment of replicas to devices, or on the order of arrival. A device
// combines the subtrees that it holds completely; the rest is combined across devices
// along the same tree. Transports only move bytes, and all additions are in this package.
package collective
