package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
)

func list[T any](c *cli.Context, flag, remedy string, read func(string) (T, bool)) ([]T, error) {
	return commandline.List(c, flag, remedy, read)
}

func atLeast(c *cli.Context, low int, flags ...string) error {
	return commandline.RequireAtLeast(c, low, flags...)
}
