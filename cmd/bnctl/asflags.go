package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/problem"
)

// asFlags returns err with the options of the library as a command line writes
// them, and with names that may have been meant.
func asFlags(err error) error {
	var p *problem.Error
	if errors.As(err, &p) {
		as := p.Calling(flag)
		as.Value += nearest(strings.Trim(p.Value, `"`), p.Known)
		return errors.New(strings.Replace(err.Error(), p.Error(), as.Error(), 1))
	}
	var u *fleet.Unknown
	if errors.As(err, &u) {
		return fmt.Errorf("unknown device %q%s; bnctl devices list shows what is there", u.Name,
			nearest(u.Name, u.Known))
	}
	var m *modelfile.Unknown
	if errors.As(err, &m) {
		name := fmt.Sprintf("unknown model %q%s; bnctl models list shows the names", m.Name,
			nearest(m.Name, m.Known))
		return errors.New(strings.Replace(err.Error(), m.Error(), name, 1))
	}
	return err
}

// flag is what a command line calls an option of the library.
func flag(option string) string { return "--" + option }
