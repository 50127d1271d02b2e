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

// forms are the forms of the URLs that a Store owns, by their schemes.
var forms = map[string]string{"https": "https://HOST/PATH", "http": "http://HOST/PATH",
	"s3": "s3://BUCKET/NAME", "gs": "gs://BUCKET/NAME", "oci": "oci://REGISTRY/REPOSITORY:TAG",
	"hf": "hf:OWNER/NAME"}

// schemeOf returns the scheme of a URL in small letters, without its colon; "" for a path. A URL that
// lacks the two slashes has the scheme, too, so that it is not taken for the name of a local file.
func (s *Store) schemeOf(text string) string {
	name, _, ok := strings.Cut(text, ":")
	if !ok {
		return ""
	}
	if scheme := strings.ToLower(name); forms[scheme] != "" {
		return scheme
	}
	if s.o.Names[name] != nil {
		return name
	}
	return ""
}

// checkForm refuses URLs with a known scheme that do not have its form.
func checkForm(scheme, text string) error {
	form := forms[scheme]
	before, _, _ := strings.Cut(form, ":")
	if form == "" || strings.HasPrefix(text, before+"://") || scheme == "hf" && strings.HasPrefix(text, "hf:") {
		return nil
	}
	return problem.Advise("write "+form+"; a file of this machine with that name is ./"+Redact(text),
		"%s is not a URL", Redact(text))
}

// Owns implements regular.Remote.
func (s *Store) Owns(path string) bool { return s.schemeOf(path) != "" }

// Name implements regular.Remote.
func (s *Store) Name(url string) string { return Redact(url) }

// Redact returns a URL without its user, password and query, for messages. Signed URLs have their
// signature in the query.
func Redact(text string) string {
	scheme, rest, ok := strings.Cut(text, ":")
	web := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	after := strings.TrimLeft(rest, "/")
	if slashes := len(rest) - len(after); !ok || !web && slashes != 2 {
		return text
	}
	scheme += ":" + rest[:len(rest)-len(after)]
	host, path, slash := strings.Cut(after, "/")
	if at := strings.LastIndex(host, "@"); at >= 0 {
		host = host[at+1:]
	}
	if slash {
		host += "/"
	}
	text = host + path
	if web {
		text, _, _ = strings.Cut(text, "?")
		text, _, _ = strings.Cut(text, "#")
	}
	return scheme + text
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
			err = reason.Err // the other fields of the error have the URL with its credentials
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
