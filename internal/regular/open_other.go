//go:build !unix

package regular

// nonBlocking is nothing: opening does not wait here.
const nonBlocking = 0
