package main

import "github.com/bnctl/bnctl/cmd/bnctl/internal/build"

func version() string { return build.Version() }

func commit() string { return build.Commit() }
