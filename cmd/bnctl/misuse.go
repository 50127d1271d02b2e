package main

import (
	"fmt"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
	"github.com/bnctl/bnctl/problem"
)

func misuse(format string, args ...any) error { return commandline.Misuse(format, args...) }

func modelComesFirst(first string, others []string, err error) error {
	return commandline.ModelComesFirst(first, others, err)
}

// misadvise is like misuse, with advice.
func misadvise(advice, format string, args ...any) error {
	return problem.New("", "", fmt.Sprintf(format, args...), advice)
}
