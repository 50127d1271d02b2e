package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// schemes are the beginnings of the URLs that a Store owns.
var schemes = []string{"https://", "http://", "s3://", "gs://", "oci://", "hf:"}

// schemeOf returns the scheme of a URL, without its colon; "" for a path.
func (s *Store) schemeOf(text string) string {
	for _, scheme := range schemes {
		if strings.HasPrefix(text, scheme) {
			scheme, _, _ := strings.Cut(scheme, ":")
			return scheme
		}
	}
	if name, _, ok := strings.Cut(text, ":"); ok && s.o.Names[name] != nil {
		return name
	}
	return ""
}

// Owns implements regular.Remote.
func (s *Store) Owns(path string) bool { return s.schemeOf(path) != "" }

// Name implements regular.Remote.
func (s *Store) Name(url string) string { return Redact(url) }

// Redact returns a URL without its user, password and query, for messages. Signed URLs have their
// signature in the query.
func Redact(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	host, path, slash := strings.Cut(rest, "/")
	if at := strings.LastIndex(host, "@"); at >= 0 {
		host = host[at+1:]
	}
	if scheme == "http" || scheme == "https" {
		path, _, _ = strings.Cut(path, "?")
		path, _, _ = strings.Cut(path, "#")
	}
	if slash {
		host += "/"
	}
	return scheme + "://" + host + path
}

// fileName returns the last part of the path of a URL, as the name of a local file.
func fileName(text string) string {
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
		if scheme == "http" || scheme == "https" {
			if u, err := url.Parse(scheme + "://" + rest); err == nil {
				text = u.Path
			}
		}
		if i := strings.LastIndex(text, "#"); scheme == "oci" && i >= 0 {
			text = text[i+1:]
		}
	}
	name := path.Base(strings.TrimRight(text, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, name)
	if name == "" || name == "." || name == ".." || len(name) > 200 {
		return "file"
	}
	return name
}

// parseHTTP parses an http(s) URL, and refuses unencrypted URLs to other machines.
func (s *Store) parseHTTP(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		var reason *url.Error
		if errors.As(err, &reason) {
			err = reason.Err // the rest is the URL with its credentials
		}
		return nil, problem.Advise("write https://HOST/PATH", "%s is not a URL: %w", Redact(text), err)
	}
	if u.Host == "" {
		return nil, problem.Advise("write https://HOST/PATH", "%s is not a URL: it has no host", Redact(text))
	}
	return u, s.checkPlain(u)
}

// checkPlain refuses URLs without encryption to other machines.
func (s *Store) checkPlain(u *url.URL) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("%s: %s:// is not a scheme of the web", Redact(u.String()), u.Scheme)
	case s.o.AllowHTTP || isLoopback(u.Hostname()):
		return nil
	}
	return problem.Advise("use https://, or allow it with {allow-http}",
		"%s is not encrypted: others could read and change what it sends", Redact(u.String()))
}

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// splitBucket splits s3://BUCKET/KEY. A key may have any characters.
func splitBucket(text string) (bucket, key string, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	bucket, key, _ = strings.Cut(rest, "/")
	if bucket == "" || strings.ContainsAny(bucket, "@:?#%\\ ") {
		return "", "", problem.Advise("write "+scheme+"://BUCKET/NAME; credentials come from the environment",
			"%s does not name a bucket", Redact(text))
	}
	return bucket, key, nil
}
