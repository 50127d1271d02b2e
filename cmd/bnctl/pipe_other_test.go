//go:build !linux

package main

import "os"

// narrow leaves the pipe f as it is: how large it is can be changed on Linux alone.
func narrow(*os.File) error { return nil }
