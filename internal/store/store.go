package store

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// Store opens and writes files at URLs. It implements regular.Remote.
type Store struct {
	o     Options
	ctx   context.Context // context of all requests
	cache cache
	web   *web

	mu       sync.Mutex
	pins     map[string]*pin    // results of Local, by URL
	buckets  map[string]*bucket // buckets by scheme
	mirrored map[string]string  // ETags of files in folders, by path
	locked   map[string]string  // ETags of files that Lock has locked, by URL; "": no file
	google   googleTokens
	queries  queries
	printed  map[string]string // names of URLs, by the paths of their local copies
	netrc    func() string     // returns the text of the .netrc file
	sleep    func(context.Context, time.Duration) error
	ahead    ahead
}

// pin is the local copy of a URL. once makes sure that the URL is fetched only once.
type pin struct {
	once sync.Once
	path string
	err  error
}

// New returns a Store. Its requests end with ctx.
func New(ctx context.Context, o Options) (*Store, error) {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	folder := o.Cache
	if folder == "" {
		var err error
		if folder, err = DefaultCache(); err != nil {
			return nil, problem.Advise("set BNCTL_CACHE to a folder",
				"there is no folder for files that are fetched: %w", err)
		}
	}
	s := &Store{o: o, ctx: ctx, cache: cache{folder}, pins: map[string]*pin{},
		buckets: map[string]*bucket{}, mirrored: map[string]string{},
		locked: map[string]string{}, printed: map[string]string{}}
	s.web, s.netrc, s.sleep = newWeb(s), sync.OnceValue(s.readNetrc), sleep
	s.queries.urls, s.queries.ranges = map[string]string{}, map[string]*regexp.Regexp{}
	s.ahead.slots, s.ahead.calls = make(chan struct{}, parallelReads), map[string]*objectCall{}
	s.ahead.waiting = make(chan struct{}, parallelReads)
	return s, nil
}

// object is a file on a server.
type object struct {
	url  string // URL for messages
	size int64  // -1: unknown
	etag string // ETag of this content; "": unknown
	// version is the condition of an upload that replaces this file; "": unknown.
	version string
	sum     string // SHA-256 in hexadecimal, or the first digits of it; "": unknown
	// fixed is true if the URL always names this content, for example by a commit or a digest.
	fixed  bool
	upload string // id of the upload; "": unknown
	srv    server
	data   any // data about the file that its server needs
	// damaged is true if the content had another sum.
	damaged bool
}

// upload is a file of this machine that is sent to a server.
type upload struct {
	path string
	sum  string // SHA-256 in hexadecimal
	id   string // id of this upload, which the server stores if it can
	// etag is the version that the file on the server must have, or "" if the file must not exist. If it
	// has another version, put returns errChanged. A nil etag permits any version. Servers without
	// conditions ignore etag.
	etag *string
}

// server is a kind of server. Errors of open and stat wrap fs.ErrNotExist for a missing file.
type server interface {
	// stat returns the file at a URL.
	stat(ctx context.Context, url string) (*object, error)
	// open reads an object from an offset. It is an error if the object has changed since stat.
	open(ctx context.Context, o *object, offset int64) (*body, error)
	// list calls add for the files below a folder, in the order of their names.
	list(ctx context.Context, url string, add func(name string, o *object) bool) error
	// put creates or replaces the file at url, and returns its new version.
	put(ctx context.Context, url string, u *upload) (version string, err error)
	// probe returns the error that put would return, if it is known.
	probe(ctx context.Context, url string) error
}

// serverOf returns the server of a URL, and the URL in the form that the server accepts.
func (s *Store) serverOf(url string) (server, Source, error) {
	scheme := s.schemeOf(url)
	if name := s.o.Names[scheme]; name != nil {
		_, rest, _ := strings.Cut(url, ":")
		source, err := name(rest)
		if err != nil {
			return nil, source, err
		}
		from, to, err := s.serverOf(source.URL)
		if to.Sum == "" {
			to.Sum = source.Sum
		}
		return from, to, err
	}
	if err := checkForm(scheme, url); err != nil {
		return nil, Source{}, err
	}
	switch scheme {
	case "http", "https":
		url = s.withQuery(url)
		u, err := s.parseHTTP(url)
		if err == nil {
			err = checkNoPassword(u)
		}
		return s.web, Source{URL: url}, err
	case "hf":
		return &hub{s.web}, Source{URL: url}, nil
	case "s3", "gs":
		b, err := s.bucketOf(scheme)
		return b, Source{URL: url}, err
	case "oci":
		return &registry{s}, Source{URL: url}, nil
	}
	return nil, Source{}, problem.Advise("the schemes are "+strings.Join(slices.Sorted(maps.Keys(forms)), ", "),
		"%s has no known scheme", Redact(url))
}

// stat returns the object at a URL.
func (s *Store) stat(url string) (*object, error) {
	from, source, err := s.serverOf(url)
	if err != nil {
		return nil, err
	}
	if err := s.checkOnline(url); err != nil {
		return nil, err
	}
	var o *object
	err = s.retry(s.ctx, url, func() (err error) {
		o, err = from.stat(s.ctx, source.URL)
		return err
	})
	if err != nil {
		return nil, err
	}
	if o.sum == "" {
		o.sum = source.Sum
	}
	o.url, o.srv = Redact(url), from
	return o, nil
}

func (s *Store) checkOnline(url string) error {
	if !s.o.Offline {
		return nil
	}
	return problem.Advise("fetch it with models pull, without {offline} and BNCTL_OFFLINE",
		"%s is not in the cache, and nothing is fetched offline", Redact(url))
}

// Exists implements regular.Remote.
func (s *Store) Exists(url string) (bool, error) {
	if s.o.Offline {
		return s.lookup(url) != nil || s.offlineFolder(url) != "", nil
	}
	_, err := s.stat(url)
	if !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	if from, _, _ := s.serverOf(url); from == s.web {
		return false, nil // web servers have no folders
	}
	for _, err := range s.Files(url) {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil // for example, no artifact has that tag
		}
		return err == nil, err
	}
	return false, nil
}
