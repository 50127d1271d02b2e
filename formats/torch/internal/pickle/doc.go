// Package pickle reads Python pickles of protocols 2 to 5 and executes nothing: a class or
// function is only a name, and applying it to arguments only records the application. The
// caller interprets the result.
//
// A pickle costs at most the memory budget given to its Reader, with any opcodes.
package pickle
