package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// web is a server of files over HTTPS.
type web struct {
	s          *Store
	client     *http.Client
	noRedirect *http.Client // does not follow redirects
}

// userAgent is the name of this program in requests.
const userAgent = "bnctl"

// maxRedirects is the maximum number of redirects of a request.
const maxRedirects = 10

func newWeb(s *Store) *web {
	w := &web{s: s}
	w.client = &http.Client{Transport: s.transport(), CheckRedirect: w.redirect}
	w.noRedirect = &http.Client{Transport: w.client.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return w
}

// transport returns the transport of all requests. Proxies come from the environment.
func (s *Store) transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: s.o.Timeout, KeepAlive: 30 * time.Second}).DialContext
	t.ResponseHeaderTimeout, t.TLSHandshakeTimeout = s.o.Timeout, s.o.Timeout
	t.MaxIdleConnsPerHost, t.DisableCompression = parallelReads, true
	return &noting{t}
}

// redirect follows a redirect. Another host does not get the credentials of the first.
func (w *web) redirect(r *http.Request, earlier []*http.Request) error {
	if len(earlier) >= maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if earlier[0].URL.Scheme == "https" && r.URL.Scheme == "http" && !w.s.o.AllowHTTP {
		return errors.New("it redirects to a URL without encryption")
	}
	if r.URL.Host != earlier[0].URL.Host {
		for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
			r.Header.Del(name)
		}
	}
	return w.s.checkPlain(r.URL)
}

// request is a request for a file.
type request struct {
	url, method string
	header      http.Header
	follow      bool // whether redirects are followed
}

// do sends a request. The body of the response is to be closed. A status other than 2xx and 3xx is an
// error.
func (w *web) do(ctx context.Context, q request) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, q.method, q.url, nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	if q.header != nil {
		r.Header = q.header.Clone()
	}
	login, password, ok := parseNetrc(w.s.netrc(), r.URL.Hostname())
	if ok && r.Header.Get("Authorization") == "" {
		r.SetBasicAuth(login, password)
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept-Encoding", "identity")
	client := w.noRedirect
	if q.follow {
		client = w.client
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, w.s.transientError(ctx, withoutURL(err))
	}
	if answer.StatusCode < 400 {
		return answer, nil
	}
	// The rest is read so that the connection can be used again.
	io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) //nolint:errcheck // the body is not needed
	answer.Body.Close()
	return nil, statusError(answer)
}

// status is the error of an HTTP status.
type status struct {
	code int
	text string
}

// Error implements error.
func (e *status) Error() string { return e.text }

// Unwrap returns the kind of error that a status means.
func (e *status) Unwrap() error {
	switch e.code {
	case http.StatusNotFound, http.StatusGone:
		return fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return fs.ErrPermission
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		return errChanged
	}
	return nil
}

// errChanged is wrapped by errors about a file that has changed on the server.
var errChanged = problem.Advise("start again", "the file has changed on the server while it was read")

// statusError returns the error of a status. It is transient if a later request may succeed.
func statusError(r *http.Response) error {
	text := fmt.Sprintf("the server answers %d %s", r.StatusCode, http.StatusText(r.StatusCode))
	if more := cmp.Or(r.Header.Get("X-Error-Message"), r.Header.Get("X-Error-Code")); more != "" {
		text += " (" + shortened(more) + ")"
	}
	err := error(&status{r.StatusCode, text})
	switch {
	case errors.Is(err, fs.ErrPermission):
		return problem.Advise("give the URL with its query, which is not stored, or credentials in .netrc; "+
			"for the hub a token in HF_TOKEN", "%w", err)
	case isTransient(r.StatusCode):
		return &transient{err, retryAfter(r.Header.Get("Retry-After"))}
	}
	return err
}

// retryAfter returns the time that a server asks to wait; or 0.
func retryAfter(text string) time.Duration {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 0 {
		return time.Duration(min(n, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// shortened returns the text of a server in a form that is fit for a message.
func shortened(text string) string {
	const most = 200
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// withoutURL returns the reason of an error of package net/http. The rest of it repeats the URL, which
// may have a signature.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// stat implements server.
func (w *web) stat(ctx context.Context, url string) (*object, error) {
	o, err := w.head(ctx, request{url: url, method: http.MethodHead, follow: true})
	var refused *status
	if errors.As(err, &refused) && refused.code != http.StatusNotFound && !isTransient(refused.code) {
		// A signed URL permits only GET.
		header := http.Header{"Range": {"bytes=0-0"}}
		o, err = w.head(ctx, request{url: url, method: http.MethodGet, header: header, follow: true})
	}
	return o, withURL(url, err)
}

// head sends a request for the headers of a file.
func (w *web) head(ctx context.Context, q request) (*object, error) {
	r, err := w.do(ctx, q)
	if err != nil {
		return nil, err
	}
	r.Body.Close()
	o := &object{size: r.ContentLength, etag: r.Header.Get("ETag"), data: request{url: q.url}}
	if r.StatusCode == http.StatusPartialContent {
		_, o.size = contentRange(r.Header.Get("Content-Range"))
	}
	return o, nil
}

// withURL adds the URL to an error.
func withURL(url string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", Redact(url), err)
}

// open implements server.
func (w *web) open(ctx context.Context, o *object, offset int64) (*body, error) {
	q := o.data.(request)
	q.method, q.follow = http.MethodGet, true
	header := q.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if offset > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		if o.etag != "" && !strings.HasPrefix(o.etag, "W/") && o.sum == "" {
			header.Set("If-Range", o.etag)
		}
	}
	q.header = header
	r, err := w.do(ctx, q)
	if err != nil {
		return nil, err
	}
	p := &body{ReadCloser: r.Body}
	if r.StatusCode == http.StatusPartialContent {
		p.start, _ = contentRange(r.Header.Get("Content-Range"))
	}
	if now := r.Header.Get("ETag"); o.sum == "" && o.etag != "" && now != "" && now != o.etag {
		r.Body.Close()
		return nil, errChanged
	}
	return p, nil
}

// contentRange parses "bytes 5-9/10", and returns 5 and 10, or 0 and -1.
func contentRange(text string) (start, total int64) {
	text, ok := strings.CutPrefix(text, "bytes ")
	from, rest, dash := strings.Cut(text, "-")
	_, of, slash := strings.Cut(rest, "/")
	start, err := strconv.ParseInt(from, 10, 64)
	if !ok || !dash || !slash || err != nil || start < 0 {
		return 0, -1
	}
	if total, err = strconv.ParseInt(of, 10, 64); err != nil || total < 0 {
		return start, -1
	}
	return start, total
}

// list implements server.
func (w *web) list(_ context.Context, url string, _ func(string, *object) bool) error {
	return problem.Advise("pack the folder into an archive, or put it into a bucket",
		"%s: web servers do not list folders in a common form", Redact(url))
}

// put implements server.
func (w *web) put(ctx context.Context, url string, _ *upload) (string, error) {
	return "", w.probe(ctx, url)
}

// probe implements server.
func (w *web) probe(_ context.Context, url string) error {
	return problem.Advise("write to s3://, gs:// or oci://, or to a file",
		"%s: files are not uploaded to web servers", Redact(url))
}
