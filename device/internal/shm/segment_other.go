//go:build !linux

package shm

import "os"

// New returns Unsupported.
func New(int) (*os.File, error) { return nil, Unsupported }

// Reserve returns Unsupported.
func Reserve(*os.File, int) error { return Unsupported }

// Map returns Unsupported.
func Map(*os.File, int) ([]byte, error) { return nil, Unsupported }

// Unmap returns Unsupported.
func Unmap([]byte) error { return Unsupported }

func drop(*os.File, int) error { return Unsupported }
