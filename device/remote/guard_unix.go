//go:build unix

package remote

import (
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// hasOthers reports whether permissions show what other users may do.
const hasOthers = true

// The files that list the members of groups; tests replace them.
var groupFile, passwdFile = "/etc/group", "/etc/passwd"

// shared reports whether the group of a file has a member other than root and this user, or is unknown.
// Systems that give every user a private group (Debian, Fedora) create files that the group can write.
// That group has no other members, so these files are safe. Two files list members: /etc/group has
// additional members, and /etc/passwd has the first group of every user. Users of a directory service
// are in neither file, so a group counts as unknown unless it is local.
func shared(i fs.FileInfo) bool {
	s, ok := i.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	gid, self := strconv.Itoa(int(s.Gid)), strconv.Itoa(os.Getuid())
	var trusted []string // names of root and this user
	known, members := false, []string{}
	for _, f := range table(passwdFile, 4) { // name:password:user:group
		if f[2] == "0" || f[2] == self {
			trusted = append(trusted, f[0])
		}
		if f[3] == gid {
			members = append(members, f[0])
		}
	}
	for _, f := range table(groupFile, 4) { // name:password:group:members
		if f[2] == gid {
			known = true
			members = append(members, strings.FieldsFunc(f[3], func(r rune) bool { return r == ',' })...)
		}
	}
	return !known || slices.ContainsFunc(members, func(m string) bool { return !slices.Contains(trusted, m) })
}

// table reads the lines of a file that have at least the given number of fields. A missing
// file has no lines.
func table(path string, fields int) (rows [][]string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) >= fields {
			rows = append(rows, f)
		}
	}
	return rows
}
