// Package starter writes the source of a new device plugin: a Go program with a device
// that uses the loops of the reference device, which are correct and slow. The author of the
// plugin replaces the loops by kernels one by one, and tests each with package conformance.
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

// program is the source of the plugin, with the name "mine". Write replaces the name.
//
//go:embed mine/main.go
var program string

var newName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
})

// Write makes the folder bnctl-device-NAME in folder, with the source of the program and its
// go.mod, and returns the path of the new folder. It replaces no file. If name cannot be the
// name of a plugin, the error is a *problem.Error.
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
	if err := os.WriteFile(path, []byte(program), 0o644); err != nil {
		return "", err
	}
	return path, os.WriteFile(filepath.Join(folder, fileName, "go.mod"), []byte(goMod(folder, fileName)), 0o644)
}

// Module is the path of the Go module that the program needs.
const Module = "github.com/bnctl/bnctl"

// goMod returns the contents of the program's go.mod. Below a checkout of bnctl it names the checkout;
// elsewhere go mod tidy finds the released module.
func goMod(folder, name string) string {
	text := "module " + name + "\n\ngo 1.26\n"
	if at := checkoutAbove(folder); at != "" {
		text += "\nrequire " + Module + " v0.0.0\n\nreplace " + Module + " => " + strconv.Quote(at) + "\n"
	}
	return text
}

// IsInCheckout reports whether a folder is below a checkout of bnctl, which go.mod then names.
func IsInCheckout(folder string) bool { return checkoutAbove(folder) != "" }

// checkoutAbove returns the checkout that a folder is in, or "".
func checkoutAbove(folder string) string {
	at, err := filepath.Abs(folder)
	for err == nil {
		b, missing := os.ReadFile(filepath.Join(at, "go.mod"))
		if missing == nil && strings.HasPrefix(string(b), "module "+Module+"\n") {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	return ""
}
