package store

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// checkNoPassword refuses a URL with a user or a password. Recipes, checkpoints and logs keep the URLs
// of a run.
func checkNoPassword(u *url.URL) error {
	if u.User == nil {
		return nil
	}
	return problem.Advise("write it without, and put them into the file .netrc in your home folder: machine "+
		u.Hostname()+" login NAME password PASSWORD",
		"%s has a user or a password, which checkpoints and logs would keep", Redact(u.String()))
}

// readNetrc returns the text of the file that NETRC names, or of .netrc in the home folder (_netrc on
// Windows); "" if it does not exist.
func (s *Store) readNetrc() string {
	path := s.o.env("NETRC")
	if path == "" {
		home := s.o.env("HOME", "USERPROFILE")
		name := ".netrc"
		if runtime.GOOS == "windows" {
			name = "_netrc"
		}
		if path = filepath.Join(home, name); home == "" {
			return ""
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// parseNetrc returns the name and the password for a host in the text of a file: machine HOST login NAME
// password PASSWORD, and default in place of machine HOST for all other hosts. It reads no further than the
// first macro. ok is false if the text does not name the host.
func parseNetrc(text, host string) (login, password string, ok bool) {
	words, found := strings.Fields(text), false
	for i := 0; i < len(words); i++ {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch words[i] {
		case "machine", "default":
			if found {
				return login, password, true
			}
			found = words[i] == "default" || value == host
		case "login":
			if found {
				login = value
			}
		case "password":
			if found {
				password = value
			}
		case "macdef":
			return login, password, found
		}
		if words[i] != "default" {
			i++
		}
	}
	return login, password, found
}
