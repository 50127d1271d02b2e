// Package weightsync has the methods that keep the weights of the replicas in agreement. The methods
// differ in when a gradient reaches the weights of a replica:
//
//	allreduce     at once, in every replica          one set of weights, one result
//	template      at once, by one device's update    the same bits as allreduce
//	async:S       up to S steps later                one set of weights, another result
//	periodic:K    gradients of the replica at once,  R sets of weights, averaged
//	              the others at the end of K steps
//
// A Sync names a method. StaleGradients holds the waiting gradients of async:S, and LocalSGD the weights
// of the replicas of periodic:K, which it trains through the interface Devices. Use package parallel for the
// steps of the other methods; its Driver also provides the Devices.
package weightsync
