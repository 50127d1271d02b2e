// Package ulimit reports a program that runs out of address space under a limit
// like ulimit -v. Go ends the program with a dump and exit code 2, and no
// code of the program can prevent that.
//
// Use it first in main. Under a limit Supervise runs the program once more, as a
// child, waits for it, and writes a sentence if the Go runtime ended it. Without
// a limit, and on systems other than Linux, it does nothing.
//
// The Go runtime reserves about 700 MiB of address space before main begins. With
// less no program in Go starts, and this package cannot report it.
package ulimit
