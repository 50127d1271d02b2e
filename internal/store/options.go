package store

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Options define how a Store reaches servers, and where it keeps files.
type Options struct {
	Offline bool // opens only files that are in the cache
	// AllowHTTP permits URLs without encryption to any host. Without it they are permitted only to this machine
	// (loopback).
	AllowHTTP bool
	// Timeout is the longest time that a server may send nothing; 0: 30 seconds.
	Timeout time.Duration
	Cache   string // folder; "": DefaultCache
	// Names resolves names with other schemes, for example "torchvision:resnet18", to a URL.
	Names map[string]func(name string) (Source, error)
	// Main are groups of patterns that choose the files of a repository of the hub: a
	// group applies if its first pattern matches a file. The first group that applies is used.
	Main [][]string
	// Note is called with messages for the user; it may be nil.
	Note func(format string, args ...any)
	// Progress is called while a file is fetched, several times a second; it may be nil. At the end done equals
	// total. total is 0 if the server does not report it.
	Progress func(name string, done, total int64)
	// Getenv reads the environment; nil: os.Getenv.
	Getenv func(string) string
}

// Source is the URL of a file on a server, with the SHA-256 of its expected content.
type Source struct {
	URL string
	// Sum is the SHA-256 of the content in hexadecimal, or its first digits; "": unknown.
	Sum string
}

const (
	defaultTimeout = 30 * time.Second
	attempts       = 5 // attempts for a request with a temporary error
)

// DefaultCache returns the folder of the cache: BNCTL_CACHE, or bnctl/store in the cache folder of
// the user.
func DefaultCache() (string, error) {
	if folder := os.Getenv("BNCTL_CACHE"); folder != "" {
		return folder, nil
	}
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "bnctl", "store"), err
}

func (o *Options) note(format string, args ...any) {
	if o.Note != nil {
		o.Note(format, args...)
	}
}

func (o *Options) env(names ...string) string {
	get := o.Getenv
	if get == nil {
		get = os.Getenv
	}
	for _, name := range names {
		if value := get(name); value != "" {
			return value
		}
	}
	return ""
}

// sleep waits, or returns the error of a context that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
