package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/drafting"
)

func modelsDraftCommand() *cli.Command {
	return drafting.Command(drafting.Tools{Flags: fileFlags(), Argument: oneArgument, Options: modelOptions,
		Output: func(c *cli.Context) (func(string, ...any), io.Writer) {
			o := outputOf(c)
			return o.note, o.stdout
		}})
}
