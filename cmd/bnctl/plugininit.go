package main

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
)

func pluginInitCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "write a plugin to start from, in Go",
		ArgsUsage: "NAME",
		Description: `Makes the folder bnctl-device-NAME with a device that computes as the reference
does: right, and slow. Its kernels are yours to write; plugin test says after each
whether it still is right. For other languages see docs/plugins.md.

   bnctl plugin init mine`,
		Action: pluginInit,
	}
}

// starter is the plugin that plugin init writes, called "mine".
//
//go:embed starter/main.go
var starter string

var newName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

func pluginInit(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of the plugin to be")
	if err != nil {
		return err
	}
	if !newName.MatchString(name) {
		return misuse("plugin name %q: want lower case letters, digits and -, a letter first, 32 at most", name)
	}
	program := "bnctl-device-" + name
	if err := os.Mkdir(program, 0o755); err != nil { // nothing that is there is written over
		return err
	}
	named := strings.NewReplacer("bnctl-device-mine", program, `name = "mine"`, `name = "`+name+`"`)
	path := filepath.Join(program, "main.go")
	if err := os.WriteFile(path, []byte(named.Replace(starter)), 0o644); err != nil {
		return err
	}
	o := outputOf(c)
	o.event("plugin", pluginEvent{Name: name, Path: path, State: "written"})
	o.result("wrote %s; from here on:", path)
	o.result("   cd %s", program)
	o.result("   go mod init %s && go get github.com/bnctl/bnctl && go mod tidy && go build", program)
	o.result("   bnctl plugin test ./%s", program)
	return nil
}
