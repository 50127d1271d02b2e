package stores

import (
	"regexp"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
)

// urlStart matches the start of a web URL in an argument. A URL may be the whole argument, the value of a
// flag, or the text after the kind of a data source or after another URL.
var urlStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[:=,+])(https?:/)`)
})

// urlEnd matches the text that may follow a URL in an argument: another data source, another URL, or a suffix
// that selects a part of the data.
var urlEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(@(train|val|test))?(\+\+[a-z0-9]+:|$)|,(https?|s3|gs|oci|hf):`)
})

// lists are the kinds of data sources that have several paths, with commas between them.
var lists = []string{"masks:", "npy:"}

// Visible returns arguments, or values of options, in a form that may be written to files or printed. Queries
// are removed from URLs, because they may contain signatures or tokens. The store of this process keeps the
// queries for its requests.
func Visible(args []string) []string {
	printed := make([]string, len(args))
	for i, arg := range args {
		printed[i] = visible(arg)
	}
	return printed
}

func visible(arg string) string {
	var out strings.Builder
	for {
		match := urlStart().FindStringSubmatchIndex(arg)
		if match == nil {
			return out.String() + arg
		}
		start := match[4] // start of the second group
		end := start + urlEnd().FindStringIndex(arg[start:])[0]
		for _, kind := range lists {
			url, rest, ok := strings.Cut(arg[start:end], ",")
			if ok && !strings.ContainsAny(rest, "=&") && isOf(kind, out.String()+arg[:start]) {
				end = start + len(url) // if it is another kind of data, the comma is part of the query
			}
		}
		out.WriteString(arg[:start] + hidden(arg[start:end]))
		arg = arg[end:]
	}
}

// isOf reports whether the last data source in the text before a URL is of the given kind.
func isOf(kind, before string) bool {
	before = before[strings.LastIndex(before, "++")+1:]
	before = before[strings.LastIndex(before, "=")+1:]
	return strings.HasPrefix(strings.TrimPrefix(before, "+"), kind)
}

// hidden returns a URL without its query.
func hidden(url string) string {
	if s := installed(); s != nil {
		return s.Hide(url)
	}
	return url
}

// Printed returns a message where the paths of copies in the cache are replaced by their URLs.
func Printed(text string) string {
	if s := installed(); s != nil {
		return s.Printed(text)
	}
	return text
}

// Notes returns a function that calls note with messages where the paths of copies in the cache are
// replaced by their URLs.
func Notes(note func(format string, args ...any)) func(format string, args ...any) {
	return func(format string, args ...any) {
		note("%v", legible.Lines(Printed(legible.Sprintf(format, args...))))
	}
}

// installed returns the store of this process, or nil.
func installed() *store.Store {
	s, _ := regular.RemoteOf("https://").(*store.Store) // this store handles all URLs
	return s
}
