package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// hub is the Hugging Face hub, or a server with its scheme of URLs at HF_ENDPOINT. Its files have the
// URLs hf:OWNER/NAME[@REVISION]/PATH. If a URL has no /PATH, Options.Main chooses the files.
type hub struct{ *web }

// hubFile is a file, or a repository, of a hub.
type hubFile struct {
	repository string // OWNER/NAME
	revision   string
	path       string // "" for the repository
}

const defaultHub = "https://huggingface.co"

// parseHub parses hf:OWNER/NAME[@REVISION][/PATH].
func parseHub(text string) (f hubFile, err error) {
	bad := problem.Advise("write hf:OWNER/NAME, hf:OWNER/NAME@REVISION or hf:OWNER/NAME/FILE",
		"%s does not name a repository of the hub", text)
	rest := strings.TrimPrefix(text, "hf:")
	owner, rest, ok := strings.Cut(rest, "/")
	if !ok {
		return f, bad
	}
	name, file, _ := strings.Cut(rest, "/")
	name, revision, has := strings.Cut(name, "@")
	if !isHubName(owner) || !isHubName(name) || has && revision == "" {
		return f, bad
	}
	if f.revision = "main"; has {
		if f.revision, err = url.PathUnescape(revision); err != nil {
			return f, bad
		}
	}
	if file = strings.TrimSuffix(file, "/"); file != "" && !fs.ValidPath(file) {
		return f, bad
	}
	f.repository, f.path = owner+"/"+name, file
	return f, nil
}

// isHubName reports whether text may be the name of an owner or of a repository.
func isHubName(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return text != "" && len(text) <= 96 && strings.Trim(text, letters) == "" && !strings.HasPrefix(text, ".")
}

// base returns the URL of the hub.
func (h *hub) base() (*url.URL, error) {
	text := h.s.o.env("HF_ENDPOINT")
	if text == "" {
		text = defaultHub
	}
	return h.s.parseHTTP(strings.TrimRight(text, "/"))
}

// request returns a request for a path of the hub. Only the hub gets the token.
func (h *hub) request(method string, path ...string) (request, error) {
	base, err := h.base()
	if err != nil {
		return request{}, err
	}
	q := request{url: base.String(), method: method, header: http.Header{}}
	q.url += "/" + strings.Join(path, "/")
	if token := h.s.o.env("HF_TOKEN"); token != "" {
		q.header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	}
	return q, nil
}

func (h *hub) file(f hubFile, revision, method string) (request, error) {
	names := []string{f.repository, "resolve", url.PathEscape(revision)}
	for element := range strings.SplitSeq(f.path, "/") {
		names = append(names, url.PathEscape(element))
	}
	return h.request(method, names...)
}

// stat implements server. The hub's answer has the sum of the content, and the commit: later requests
// name the commit.
func (h *hub) stat(ctx context.Context, text string) (*object, error) {
	f, err := parseHub(text)
	if err != nil {
		return nil, err
	}
	if f.path == "" {
		return nil, fmt.Errorf("%s is a repository: %w", text, fs.ErrNotExist)
	}
	q, err := h.file(f, f.revision, http.MethodHead)
	if err != nil {
		return nil, err
	}
	r, err := h.ownRedirects(ctx, q)
	if err != nil {
		return nil, withURL(text, err)
	}
	r.Body.Close()
	return h.object(f, r)
}

// ownRedirects sends a request, and follows redirects within the hub, for example from the old name of a
// repository to the new one.
func (h *hub) ownRedirects(ctx context.Context, q request) (*http.Response, error) {
	for range maxRedirects {
		r, err := h.do(ctx, q)
		if err != nil {
			return nil, err
		}
		to := r.Header.Get("Location")
		if r.StatusCode < 300 || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
			return r, nil
		}
		r.Body.Close()
		base, err := h.base()
		if err != nil {
			return nil, err
		}
		q.url = base.Scheme + "://" + base.Host + to
	}
	return nil, fmt.Errorf("more than %d redirects", maxRedirects)
}

// object returns the file that an answer of the hub describes.
func (h *hub) object(f hubFile, r *http.Response) (*object, error) {
	o := &object{size: r.ContentLength, etag: strings.Trim(r.Header.Get("ETag"), `"`)}
	if r.StatusCode >= 300 {
		o.size = -1
	}
	if linked := strings.Trim(r.Header.Get("X-Linked-Etag"), `"`); linked != "" {
		o.etag = linked
	}
	if n, err := strconv.ParseInt(r.Header.Get("X-Linked-Size"), 10, 64); err == nil && n >= 0 {
		o.size = n
	}
	if isSum(o.etag) {
		o.sum = o.etag
	}
	revision := f.revision
	if commit := r.Header.Get("X-Repo-Commit"); isCommit(commit) {
		revision = commit
	}
	o.fixed = f.revision == revision && isCommit(revision)
	q, err := h.file(f, revision, http.MethodGet)
	o.data = q
	return o, err
}

func isCommit(text string) bool { return len(text) == 40 && isDigits(text) }

// open implements server. The content may come from another host, with another ETag.
func (h *hub) open(ctx context.Context, o *object, offset int64) (*body, error) {
	at := *o
	at.etag = ""
	return h.web.open(ctx, &at, offset)
}

// repository is the answer of the hub about a repository.
type repository struct {
	Commit string `json:"sha"`
	Files  []struct {
		Name string `json:"rfilename"`
	} `json:"siblings"`
}

// maxListing is the maximum number of bytes that are read of a list of files.
const maxListing = 32 << 20

// files returns the commit and the names of the files of a repository.
func (h *hub) files(ctx context.Context, f hubFile) (string, []string, error) {
	q, err := h.request(http.MethodGet, "api/models", f.repository, "revision", url.PathEscape(f.revision))
	if err != nil {
		return "", nil, err
	}
	r, err := h.ownRedirects(ctx, q)
	if err != nil {
		return "", nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(io.LimitReader(r.Body, maxListing+1))
	if err != nil {
		return "", nil, h.s.transientError(ctx, withoutURL(err))
	}
	return parseRepository(b)
}

// parseRepository parses the answer of the hub about a repository.
func parseRepository(b []byte) (commit string, names []string, err error) {
	if len(b) > maxListing {
		return "", nil, fmt.Errorf("the hub's list of files has more than %d bytes", maxListing)
	}
	var all repository
	if err := json.Unmarshal(b, &all); err != nil {
		return "", nil, fmt.Errorf("the hub's list of files: %w", err)
	}
	if !isCommit(all.Commit) {
		return "", nil, errors.New("the hub's list of files has no commit")
	}
	for _, f := range all.Files {
		if !fs.ValidPath(f.Name) || f.Name == "." {
			return "", nil, fmt.Errorf("the hub's list of files has the name %.80q", f.Name)
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return all.Commit, names, nil
}

// list implements server.
func (h *hub) list(ctx context.Context, text string, add func(string, *object) bool) error {
	f, err := parseHub(text)
	if err != nil {
		return err
	}
	var commit string
	var names []string
	err = h.s.retry(ctx, text, func() error {
		commit, names, err = h.files(ctx, f)
		return withURL(text, err)
	})
	if err != nil {
		return err
	}
	if f.path == "" {
		names = choose(h.s.o.Main, names)
	}
	for _, name := range names {
		rest, below := strings.CutPrefix(name, f.path+"/")
		if f.path == "" {
			rest, below = name, true
		}
		if !below {
			continue
		}
		var o *object
		err := h.s.retry(ctx, text, func() (err error) {
			o, err = h.stat(ctx, "hf:"+f.repository+"@"+commit+"/"+name)
			return err
		})
		if err != nil {
			return err
		}
		if !add(rest, o) {
			return nil
		}
	}
	return nil
}

// choose selects files of a repository by groups of patterns. A group applies if its first pattern
// matches a file. choose returns the files that match a pattern of the first group that applies.
func choose(groups [][]string, names []string) (chosen []string) {
	for _, group := range groups {
		first := func(name string) bool { ok, _ := path.Match(group[0], name); return ok }
		if !slices.ContainsFunc(names, first) {
			continue
		}
		for _, name := range names {
			if slices.ContainsFunc(group, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
				chosen = append(chosen, name)
			}
		}
		return chosen
	}
	return nil
}
