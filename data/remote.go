package data

import (
	"context"
	"strings"

	"github.com/bnctl/bnctl/internal/regular"
)

// openRemote lists the files below a folder on another machine. It returns nil without files, because
// the URL may name an archive.
func openRemote(ctx context.Context, r regular.Remote, url string, keep func(string) bool) (*tree, error) {
	t := &tree{close: func() error { return nil }}
	wanted := t.counting(keep)
	found := false
	for f, err := range r.Files(url) {
		if err != nil {
			return nil, regular.Reason(r.Name(url), err)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		found = true
		name, err := memberName(f.Name)
		if err != nil {
			return nil, err
		}
		if !wanted(name) {
			continue
		}
		if err := t.add(member{name: name, size: f.Size, read: f.Read, prefetch: f.ReadAhead}); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, nil
	}
	return t, nil
}

// isArchiveName reports whether a name or URL has the extension of an archive. It ignores the query of a URL.
func isArchiveName(name string) bool {
	if strings.HasPrefix(name, "http") && regular.RemoteOf(name) != nil {
		name, _, _ = strings.Cut(name, "?")
	}
	return archiveEnding().MatchString(name)
}
