package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/bnctl/bnctl/problem"
)

// registry is an OCI registry. oci://REGISTRY/REPOSITORY:TAG is an artifact, as oras push makes it: each
// layer is a file with its name in an annotation. #NAME selects one of several files. @sha256:DIGEST
// instead of the tag pins the content.
type registry struct{ s *Store }

const (
	artifactType = "application/vnd.bnctl.file"
	layerType    = "application/octet-stream"
	maxManifest  = 4 << 20
)

// repository returns the client of a URL, its tag or digest, and the name of the file, "" for all.
func (g *registry) repository(text string) (r *remote.Repository, reference, name string, err error) {
	rest := strings.TrimPrefix(text, "oci://")
	rest, name, _ = strings.Cut(rest, "#")
	bad := func(reason string) error {
		return problem.Advise("write oci://REGISTRY/REPOSITORY:TAG, #FILE behind it if it has several files",
			"%s: %s", Redact(text), reason)
	}
	if name != "" && !fs.ValidPath(name) {
		return nil, "", "", bad("the name of the file leads out of the artifact")
	}
	if r, err = remote.NewRepository(rest); err != nil {
		return nil, "", "", bad("it is not a reference of a registry")
	}
	if reference = r.Reference.Reference; reference == "" {
		return nil, "", "", bad("the tag is missing")
	}
	host := r.Reference.Registry
	if only, _, err := net.SplitHostPort(host); err == nil {
		host = only
	}
	local := isLoopback(host)
	r.PlainHTTP = local || g.s.o.AllowHTTP
	client := &auth.Client{Client: g.s.web.client, Cache: auth.NewCache(),
		Header: http.Header{"User-Agent": {userAgent}}}
	if local {
		client.BlockedRealmPrefixes = []netip.Prefix{} // permit servers of tokens on this machine, too
	}
	docker, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, "", "", fmt.Errorf("the credentials of docker: %w", err)
	}
	client.Credential = credentials.Credential(docker)
	r.Client = client
	return r, reference, name, nil
}

// layer is a file of an artifact.
type layer struct {
	repository *remote.Repository
	descriptor ocispec.Descriptor
}

// files returns the files of an artifact by their names, and the name in the URL.
func (g *registry) files(ctx context.Context, text string) (map[string]*object, string, error) {
	ctx = withAnswer(ctx)
	r, reference, name, err := g.repository(text)
	if err != nil {
		return nil, "", err
	}
	at, err := r.Resolve(ctx, reference)
	if err != nil {
		return nil, "", withURL(text, g.explained(ctx, err))
	}
	if at.Size > maxManifest {
		return nil, "", fmt.Errorf("%s: the manifest has more than %d bytes", Redact(text), maxManifest)
	}
	b, err := content.FetchAll(ctx, r, at) // FetchAll compares the digest
	if err != nil {
		return nil, "", withURL(text, g.explained(ctx, err))
	}
	layers, err := parseManifest(b)
	if err != nil {
		return nil, "", withURL(text, err)
	}
	files := map[string]*object{}
	for title, d := range layers {
		files[title] = &object{url: Redact(text), size: d.Size, etag: d.Digest.String(),
			version: d.Digest.String(), sum: d.Digest.Encoded(),
			fixed: strings.Contains(reference, ":"), srv: g, data: layer{r, d}}
	}
	return files, name, nil
}

// parseManifest returns the layers of a manifest by the names of their files.
func parseManifest(b []byte) (map[string]ocispec.Descriptor, error) {
	var m ocispec.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("the manifest: %w", err)
	}
	if len(m.Layers) == 0 {
		return nil, problem.Advise("name the digest of one of its manifests",
			"the manifest, of type %.80q, has no layers", m.MediaType)
	}
	layers := map[string]ocispec.Descriptor{}
	for _, d := range m.Layers {
		title := d.Annotations[ocispec.AnnotationTitle]
		if title == "" && len(m.Layers) == 1 {
			title = "file"
		}
		switch {
		case title == "":
			return nil, problem.Advise("push the files with oras push, which names them",
				"a layer of the manifest has no name")
		case !fs.ValidPath(title) || title == "." || strings.ContainsAny(title, "\\\x00"):
			return nil, fmt.Errorf("the manifest has the name %.80q", title)
		case d.Digest.Validate() != nil || d.Digest.Algorithm() != digest.SHA256 || d.Size < 0:
			return nil, fmt.Errorf("the layer %.80q has no SHA-256 and size", title)
		}
		if _, twice := layers[title]; twice {
			return nil, fmt.Errorf("the manifest has two files %.80q", title)
		}
		layers[title] = d
	}
	return layers, nil
}

// stat implements server.
func (g *registry) stat(ctx context.Context, text string) (*object, error) {
	files, name, err := g.files(ctx, text)
	if err != nil {
		return nil, err
	}
	for title, o := range files {
		if title == name || name == "" && len(files) == 1 {
			o.url = strings.TrimSuffix(o.url, "#"+name) + "#" + title
			return o, nil
		}
	}
	if name == "" {
		return nil, withURL(text, &status{http.StatusNotFound, "it has several files"}) // the URL names a folder
	}
	return nil, withURL(text, &status{http.StatusNotFound, "the artifact has no file " + name})
}

// list implements server.
func (g *registry) list(ctx context.Context, text string, add func(string, *object) bool) error {
	var files map[string]*object
	var name string
	err := g.s.retry(ctx, text, func() (err error) {
		files, name, err = g.files(ctx, text)
		return err
	})
	if err != nil {
		return err
	}
	for title, o := range files {
		if rest, below := strings.CutPrefix(title, name+"/"); name == "" || below {
			if name == "" {
				rest = title
			}
			if !add(rest, o) {
				return nil
			}
		}
	}
	return nil
}

// open implements server.
func (g *registry) open(ctx context.Context, o *object, offset int64) (*body, error) {
	ctx, l := withAnswer(ctx), o.data.(layer)
	content, err := l.repository.Blobs().Fetch(ctx, l.descriptor)
	if err != nil {
		return nil, g.explained(ctx, err)
	}
	p := &body{ReadCloser: content}
	if seeker, ok := content.(io.Seeker); ok && offset > 0 {
		if _, err := seeker.Seek(offset, io.SeekStart); err != nil {
			content.Close()
			return nil, g.explained(ctx, err)
		}
		p.start = offset
	}
	return p, nil
}

// put implements server. The tag is set after all parts of the artifact are in the registry. The API
// of registries has no conditions: the error is errChanged if another program has moved the tag
// since.
func (g *registry) put(ctx context.Context, text string, u *upload) (string, error) {
	ctx = withAnswer(ctx)
	r, reference, name, err := g.repository(text)
	if err != nil {
		return "", err
	}
	f, err := os.Open(u.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if name == "" {
		name = fileName(text)
	}
	d := ocispec.Descriptor{MediaType: layerType, Digest: digest.NewDigestFromEncoded(digest.SHA256, u.sum),
		Size: info.Size(), Annotations: map[string]string{ocispec.AnnotationTitle: name}}
	if there, err := r.Exists(ctx, d); err != nil || !there {
		if err := r.Blobs().Push(ctx, d, f); err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
			return "", withURL(text, g.explained(ctx, err))
		}
	}
	// Without a date the same file is the same artifact.
	options := oras.PackManifestOptions{Layers: []ocispec.Descriptor{d},
		ManifestAnnotations: map[string]string{ocispec.AnnotationCreated: "1970-01-01T00:00:00Z"}}
	manifest, err := oras.PackManifest(ctx, r, oras.PackManifestVersion1_1, artifactType, options)
	if err == nil {
		err = r.Tag(ctx, manifest, reference)
	}
	if err != nil {
		return "", withURL(text, g.explained(ctx, err))
	}
	now, err := r.Resolve(ctx, reference)
	if err == nil && now.Digest != manifest.Digest {
		return "", errChanged
	}
	return d.Digest.String(), withURL(text, g.explained(ctx, err))
}

// probe implements server.
func (g *registry) probe(ctx context.Context, text string) error {
	ctx = withAnswer(ctx)
	r, reference, _, err := g.repository(text)
	if err != nil {
		return err
	}
	if strings.Contains(reference, ":") {
		return problem.Advise("name a tag", "%s: a digest names a file that exists already", Redact(text))
	}
	if _, err := r.Resolve(ctx, reference); err != nil && !errors.Is(err, errdef.ErrNotFound) {
		return withURL(text, g.explained(ctx, err))
	}
	return nil
}

// explained returns the reason of an error of the client, as a *transient if a later attempt may
// succeed.
func (g *registry) explained(ctx context.Context, err error) error {
	var answer *errcode.ErrorResponse
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return g.s.stalled(ctx, ctx.Err())
	case errors.Is(err, errdef.ErrNotFound):
		return &status{http.StatusNotFound, "the registry has no such artifact"}
	case !errors.As(err, &answer):
		return g.s.transientError(ctx, withoutURL(err))
	}
	text := fmt.Sprintf("the registry answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if len(answer.Errors) > 0 {
		text += " (" + shortened(answer.Errors[0].Error()) + ")"
	}
	reason := error(&status{answer.StatusCode, text})
	switch {
	case errors.Is(reason, fs.ErrPermission):
		return problem.Advise("give credentials with docker login or oras login", "%w", reason)
	case isTransient(answer.StatusCode):
		after, _ := answerOf(ctx)
		return &transient{reason, after}
	}
	return reason
}
