package store_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
)

// TestHide fetches files by names without queries. The requests to the server have the queries.
func TestHide(t *testing.T) {
	w, fetched := newWorld(t), atomic.Int32{}
	contents := map[string][]byte{"/a": random(5_000), "/b": random(6_000), "/s-07": random(7_000)}
	server := storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Query().Get("X-Amz-Signature"), "secret") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if r.Method == http.MethodGet {
			fetched.Add(1)
		}
		content := contents[r.URL.Path]
		if r.URL.Query().Get("id") == "2" {
			content = contents["/b"]
		}
		serveFile(content)(w, r)
	}))
	s := w.store()
	name := s.Hide(server.URL + "/a?X-Amz-Date=1&X-Amz-Signature=secret1#x")
	if name != server.URL+"/a" {
		t.Fatalf("the name is %s", name)
	}
	if again := s.Hide(server.URL + "/a?X-Amz-Date=1&X-Amz-Signature=secret1#x"); again != name {
		t.Errorf("the same URL is %s and %s", name, again)
	}
	wantLocal(t, s, name, contents["/a"])

	// Other queries of the same path are other files.
	other := s.Hide(server.URL + "/a?id=2&X-Amz-Signature=secret1")
	if other == name || strings.Contains(other, "secret") {
		t.Errorf("another query has the name %s", other)
	}
	wantLocal(t, s, other, contents["/b"])

	// All files of a range of numbers have the same query.
	s.Hide(server.URL + "/s-{00..09}?X-Amz-Signature=secret3")
	wantLocal(t, s, server.URL+"/s-07", contents["/s-07"])

	// The file of a URL with a new signature is in the cache. Offline, the URL without a query is enough.
	fetched.Store(0)
	s = w.store()
	wantLocal(t, s, s.Hide(server.URL+"/a?X-Amz-Date=2&X-Amz-Signature=secret2"), contents["/a"])
	if n := fetched.Load(); n > 0 {
		t.Errorf("it was fetched again")
	}
	wantLocal(t, w.store(func(o *store.Options) { o.Offline = true }), name, contents["/a"])

	noSecrets(t, w.noted())
	noSecretsInFiles(t, w.cache, contents["/a"])

	// The server refuses requests without the query.
	os.RemoveAll(w.cache)
	_, err := w.store().Local(name)
	wantError(t, err, server.URL+"/a: the server answers 403", "query")
}

// TestForms checks that a URL without its slashes or without a name is refused, and is not taken for
// the name of a local file.
func TestForms(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newWorld(t).store()
	for text, want := range map[string]string{"s3:x.bnm": "s3://BUCKET/NAME", "s3:/x": "s3://BUCKET/NAME",
		"S3://bucket/x": "s3://BUCKET/NAME", "gs:/b/x": "gs://BUCKET/NAME", "oci:x": "oci://REGISTRY/REPOSITORY:TAG",
		"https:/h/x?token=secret": "https://HOST/PATH", "http:x": "http://HOST/PATH", "hf://o/n": "hf:OWNER/NAME",
		"hf:o": "hf:OWNER/NAME", "s3://": "s3://BUCKET/NAME", "gs:///x": "gs://BUCKET/NAME", "https://": "HOST/PATH"} {
		if !s.Owns(text) {
			t.Errorf("%s is the name of a file", text)
		}
		for what, f := range map[string]func() error{
			"read":  func() error { _, err := s.Local(text); return err },
			"write": func() error { return s.Write(text, nil) },
			"check": func() error { return s.Writable(text) },
			"lock":  func() error { _, err := s.Lock(text); return err },
		} {
			if strings.HasPrefix(text, "h") && what != "read" {
				continue // the store writes no files at these URLs
			}
			err := f()
			if err == nil {
				t.Errorf("%s: %s is accepted", text, what)
				continue
			}
			wantError(t, err, "write ", want)
		}
	}
	for _, text := range []string{"./s3:x", "x", "C:\\net.bnm", "folder:s3://b/x", "s3"} {
		if s.Owns(text) {
			t.Errorf("%s is a URL", text)
		}
	}
	if left, _ := filepath.Glob("*"); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestPulledFolder uses a folder offline after it was fetched, and removes it by its name.
func TestPulledFolder(t *testing.T) {
	w, content := newWorld(t), random(5_000)
	w.s3("bucket")
	w.put("s3://bucket/net/a.bin", content)
	w.put("s3://bucket/net/deep/b.bin", content[1:])
	w.put("s3://bucket/network.bin", content)
	offline := func(o *store.Options) { o.Offline = true }
	if _, err := w.store(offline).Local("s3://bucket/net"); err == nil {
		t.Fatal("a folder that was not fetched is there")
	}
	if _, _, err := w.store().Pull("s3://bucket/net"); err != nil {
		t.Fatal(err)
	}
	wantLocal(t, w.store(), "s3://bucket/network.bin", content)
	for _, url := range []string{"s3://bucket/net", "s3://bucket/net/"} {
		s := w.store(offline)
		path, err := s.Local(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Printed("open " + filepath.Join(path, "deep", "b.bin")); got != "open s3://bucket/net/deep/b.bin" {
			t.Errorf("it is printed as %q", got)
		}
		if there, err := s.Exists(url); !there || err != nil {
			t.Errorf("%s exists: %v, %v", url, there, err)
		}
		var names []string
		for f, err := range s.Files(url) {
			if err != nil {
				t.Fatal(err)
			}
			b, err := f.Read()
			if names = append(names, f.Name); err != nil || int64(len(b)) != f.Size {
				t.Errorf("%s: %d bytes, %v", f.Name, len(b), err)
			}
		}
		if got := strings.Join(names, " "); got != "a.bin deep/b.bin" {
			t.Errorf("%s has %s", url, got)
		}
	}
	if n, err := w.store().Remove("s3://bucket/net/"); n != 2 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := w.store(offline).Local("s3://bucket/net"); err == nil {
		t.Error("the folder is still there")
	}
	wantLocal(t, w.store(offline), "s3://bucket/network.bin", content)
}

// TestPulledRepository does the same with a repository of a hub and an artifact of several files.
func TestPulledRepository(t *testing.T) {
	w := newWorld(t)
	hub := storetest.NewHub(t, map[string][]byte{"me/one/model.safetensors": random(100),
		"me/two/a.index.json": random(10), "me/two/b.safetensors": random(20)})
	w.env["HF_ENDPOINT"] = hub.URL
	for url, files := range map[string]int{"hf:me/one": 1, "hf:me/two": 2} {
		if _, _, err := w.store().Pull(url); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store(func(o *store.Options) { o.Offline = true }).Local(url); err != nil {
			t.Error(err)
		}
		if n, err := w.store().Remove(url); n != files || err != nil {
			t.Errorf("%s: removed %d, %v", url, n, err)
		}
		if _, err := w.store(func(o *store.Options) { o.Offline = true }).Local(url); err == nil {
			t.Errorf("%s is still there", url)
		}
	}
}

// TestWholeBucket checks that a URL of a whole bucket is refused.
func TestWholeBucket(t *testing.T) {
	w := newWorld(t)
	server := w.s3("bucket", "empty")
	for _, name := range []string{"cat/1.png", "cat/2.png", "net.bnm"} {
		w.put("s3://bucket/"+name, []byte(name))
	}
	server.Requests()
	for _, url := range []string{"s3://bucket", "s3://bucket/"} {
		_, err := w.store().Local(url)
		wantError(t, err, url+" is a bucket", "cat/, net.bnm", "name a file or a folder")
	}
	_, err := w.store().Local("s3://empty")
	wantError(t, err, "it has nothing")
	_, err = w.store().Local("s3://bucket/none/")
	wantError(t, err, "s3://bucket/none/: there is no file in it")
	for _, r := range server.Requests() {
		if strings.Count(r.URL.Path, "/") > 1 && r.URL.Path != "/bucket/" && r.URL.Path != "/empty/" {
			t.Errorf("%s %s was requested", r.Method, r.URL.Path)
		}
	}
}
