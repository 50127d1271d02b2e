package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/nearest"
	"github.com/bnctl/bnctl/problem"
)

// asFlags returns err for the user of the command. Options of the library have the names of flags, and an
// unknown name is followed by a name that may have been meant.
func asFlags(err error) error {
	text := err.Error()
	for _, p := range problem.In(err) {
		as := p.WithOptionNames(flag)
		as.Value += nearest.Name(strings.Trim(p.Value, `"`), p.Known)
		text = strings.Replace(text, p.Error(), as.Error(), 1)
	}
	if u := unknownName(err); u != nil {
		name := fmt.Sprintf("unknown %s %q%s; %s", u.What, u.Name, meant(u), whereNames(u))
		text = strings.Replace(text, u.Error(), name, 1)
	}
	return errors.New(withURLs(text))
}

// meant suggests a known name for an unknown one.
func meant(u *problem.Unknown) string { return nearest.Name(u.Name, u.Known) }

// whereNames returns advice that determines which command lists the known names.
func whereNames(u *problem.Unknown) string {
	plurals := map[string]string{"device": "all devices", "model": "the names"}[u.What]
	return "bnctl " + u.What + "s list shows " + plurals
}

// unknownName returns the *problem.Unknown in err, or nil.
func unknownName(err error) (u *problem.Unknown) {
	errors.As(err, &u)
	return u
}

// inFlags returns a text of the library, with its options in braces replaced by flags.
func inFlags(text string) string { return problem.ReplaceOptions(text, flag) }

// flag returns the flag for an option of the library, or a command that does the same.
func flag(option string) string {
	switch option {
	case "devices-keys", "devices-list", "devices-serve", "export", "keygen", "plugin-add", "reproduce", "strip":
		return "bnctl " + strings.ReplaceAll(option, "-", " ")
	case "models-list-pretrained":
		return "bnctl models list --pretrained"
	case "output-file":
		return "-o"
	}
	return "--" + option
}
