// Package pickle reads Python pickles of protocols 2 to 5 and executes
// nothing: a class or function is only a name, and applying it to arguments
// only notes that it was applied. What a pickle means is left to the caller.
//
// A pickle can cost at most the memory budget that its Reader was given,
// whatever its opcodes ask for.
package pickle
