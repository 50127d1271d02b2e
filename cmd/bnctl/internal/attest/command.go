package attest

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/commandline"
)

// Host has the functions of the command line that the commands of this package need.
type Host struct {
	Output func(*cli.Context) Output
	Sick   func(advice, format string, args ...any) error // returns an error with exit code 3
}

// Output prints results.
type Output struct {
	Result func(format string, args ...any) // prints a line of text
	Event  func(name string, v any)         // prints a line of JSON
	Wrote  func(files []string)             // reports files that were written
}

// VerifyCommand returns the command verify.
func VerifyCommand(h Host) *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "whether a signed statement is about a template, and by whom; offline",
		ArgsUsage: "MODEL",
		Description: `Checks the signature of a statement that train or reproduce has written with --attest,
and compares it with the template: its sum, recipe, data, initial weights and chain. Exit
code 0: the statement is valid. 2: a file cannot be used. 3: the statement is not valid:
it is of another key or about another template, or it was changed. No network is used.

   bnctl verify model.bnm --attest model.intoto.json --key team.pub
   bnctl verify model.bnm --attest model.intoto.json --key team.pub --json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "attest", Usage: "`FILE` of the statement"},
			&cli.StringFlag{Name: "key", Usage: "`FILE` of the public key of the signer: ed25519 in PEM"},
		},
		Action: func(c *cli.Context) error { return runVerify(c, h) },
	}
}

func runVerify(c *cli.Context, h Host) error {
	if c.NArg() != 1 || c.String("attest") == "" || c.String("key") == "" {
		return commandline.Misuse("verify needs one MODEL, --attest FILE of the statement and --key FILE of the " +
			"public key")
	}
	r, err := verify(c.Args().First(), c.String("attest"), c.String("key"))
	if err != nil {
		return err
	}
	h.Output(c).Event("verify", r)
	if !r.Valid {
		return h.Sick("do not trust the template until its origin is known", "%s", r.text())
	}
	h.Output(c).Result("%s", r.text())
	return nil
}

// KeygenCommand returns the command keygen.
func KeygenCommand(h Host) *cli.Command {
	return &cli.Command{
		Name:      "keygen",
		Usage:     "make a pair of keys for signed statements",
		ArgsUsage: "NAME",
		Description: `Writes the private key NAME.key, for train and reproduce --attest, and the public
key NAME.pub, for verify: ed25519 in PEM, as openssl genpkey -algorithm ed25519 makes
them. The private key has no pass phrase: keep it where only the signer can read it. No
file is replaced.

   bnctl keygen team
   bnctl train --data glyphs --attest model.intoto.json --attest-key team.key -o model.bnm`,
		Action: func(c *cli.Context) error { return runKeygen(c, h) },
	}
}

func runKeygen(c *cli.Context, h Host) error {
	if c.NArg() != 1 || c.Args().First() == "" {
		return commandline.Misuse("keygen needs one NAME: it writes NAME.key and NAME.pub")
	}
	files, id, err := makePair(c.Args().First())
	if err != nil {
		return err
	}
	h.Output(c).Wrote(files)
	h.Output(c).Result("key %s", id)
	return nil
}
