package store

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// queries has the queries of the URLs of this program. A query may contain a signature or a token, so
// queries are kept only in memory.
type queries struct {
	mu   sync.Mutex
	urls map[string]string // URLs with their queries, by their names
	// ranges are names with a range of numbers in braces. Each name means all URLs with one of these
	// numbers.
	ranges map[string]*regexp.Regexp
}

// braces matches a range of numbers in a quoted name.
var braces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\\{[0-9]+\\\.\\\.[0-9]+\\\}`)
})

// Hide returns the name of a URL of a web server for messages and for everything that is written: the URL
// without its query. The Store accepts the name in place of the URL. If several URLs differ only in their
// queries, the names of all but the first have a number.
func (s *Store) Hide(text string) string {
	q := &s.queries
	q.mu.Lock()
	defer q.mu.Unlock()
	bare := text
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		bare = text[:i]
	}
	name := bare
	for n := 2; ; n++ {
		if known, ok := q.urls[name]; !ok || known == text {
			break
		}
		name = bare + "?" + strconv.Itoa(n)
	}
	q.urls[name] = text
	quoted := regexp.QuoteMeta(bare)
	if pattern := braces().ReplaceAllString(quoted, `[0-9]+`); pattern != quoted {
		q.ranges[name] = regexp.MustCompile("^" + pattern + "$")
	}
	return name
}

// withQuery returns a URL with its query.
func (s *Store) withQuery(name string) string {
	q := &s.queries
	q.mu.Lock()
	defer q.mu.Unlock()
	if url, ok := q.urls[name]; ok {
		return url
	}
	for key, pattern := range q.ranges {
		if _, query, ok := strings.Cut(q.urls[key], "?"); ok && pattern.MatchString(name) {
			return name + "?" + query
		}
	}
	return name
}

// signature matches the parameters of a query that permit a request and do not choose the content: tokens,
// and the parameters of S3, Google, CloudFront and Azure.
var signature = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(x-(amz|goog)-.*|awsaccesskeyid|googleaccessid|key-pair-id|policy|` +
		`signature|expires|sig|s[eiprtv]|spr|srt|sk[eostv]|sktid|(access_?|api_?|auth_?)?(token|key))$`)
})

// unsigned returns a URL with its query, without signatures. The cache uses it as the key of a file,
// so that a URL with a new signature finds the file.
func (s *Store) unsigned(name string) string {
	text := s.withQuery(name)
	bare, query, ok := strings.Cut(text, "?")
	if scheme := s.schemeOf(text); !ok || scheme != "https" && scheme != "http" {
		return text
	}
	query, _, _ = strings.Cut(query, "#")
	var rest []string
	for parameter := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(key); err == nil {
			key = plain
		}
		if !signature().MatchString(key) {
			rest = append(rest, parameter)
		}
	}
	if rest == nil {
		return bare
	}
	return bare + "?" + strings.Join(rest, "&")
}
