package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/attest"
)

// statement is a signed statement about a template that a command will write; nil means that it writes none.
type statement = *attest.Signing

func verifyCommand() *cli.Command { return attest.VerifyCommand(attestHost()) }

func keygenCommand() *cli.Command { return attest.KeygenCommand(attestHost()) }

// attestHost returns the functions of the command line that the commands about signed statements use.
func attestHost() attest.Host {
	return attest.Host{Sick: sick, Output: func(c *cli.Context) attest.Output {
		o := outputOf(c)
		return attest.Output{Result: o.result, Event: o.event,
			Wrote: func(files []string) { reportWritten(o, files) }}
	}}
}

// statementFlags returns the statement that the flags request. If there are several ranks, only rank 0
// writes it.
func statementFlags(c *cli.Context, p peers, resumed bool) (statement, error) {
	if p != nil && p.Rank() > 0 {
		return nil, nil
	}
	return attest.FromFlags(c, resumed)
}
