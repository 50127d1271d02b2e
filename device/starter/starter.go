// Package starter writes the source of a new device plugin: a program in Go
// whose device uses the reference device, which is correct and slow. Its author
// replaces the kernels one by one, and tests each with package conformance.
//
// Use it to begin a plugin; the command is bnctl plugin init.
package starter

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/problem"
)

// program is the plugin as Write writes it, called "mine".
//
//go:embed mine/main.go
var program string

var newName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
})

// Write makes the folder bnctl-device-NAME in folder, with the source of the
// program in it, and returns its path. It replaces no file. If name cannot be
// the name of a plugin the error is a *problem.Error.
func Write(folder, name string) (path string, err error) {
	if !newName().MatchString(name) {
		return "", &problem.Error{Text: "plugin name " + strconv.Quote(name) +
			": want lower case letters, digits and -, a letter first, 32 at most"}
	}
	program, fileName := program, "bnctl-device-"+name
	if err := os.Mkdir(filepath.Join(folder, fileName), 0o755); err != nil {
		return "", err
	}
	program = strings.NewReplacer("bnctl-device-mine", fileName, `name = "mine"`, `name = "`+name+`"`).
		Replace(program)
	path = filepath.Join(folder, fileName, "main.go")
	return path, os.WriteFile(path, []byte(program), 0o644)
}
