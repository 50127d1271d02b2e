package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
)

// world is the environment of a test: its variables, and the notes of its stores.
type world struct {
	t     *testing.T
	env   map[string]string
	cache string

	mu    sync.Mutex
	notes []string
}

func newWorld(t *testing.T) *world {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "credentials"))
	return &world{t: t, env: map[string]string{}, cache: filepath.Join(t.TempDir(), "cache")}
}

// store returns a store as a new program has it.
func (w *world) store(change ...func(*store.Options)) *store.Store {
	w.t.Helper()
	o := store.Options{Cache: w.cache, Getenv: func(name string) string { return w.env[name] },
		Note: func(format string, args ...any) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notes = append(w.notes, fmt.Sprintf(format, args...))
		},
		Main: [][]string{{"model.safetensors"}, {"*.index.json", "*.safetensors"}}}
	for _, f := range change {
		f(&o)
	}
	s, err := store.New(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) noted() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.notes, "\n")
}

// s3 starts a server and sets the credentials for it.
func (w *world) s3(buckets ...string) *storetest.Bucket {
	server := storetest.S3(w.t, buckets...)
	w.env["AWS_ENDPOINT_URL"] = server.URL
	w.t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	w.t.Setenv("AWS_SECRET_ACCESS_KEY", "verysecretkey")
	return server
}

func (w *world) put(url string, content []byte) {
	w.t.Helper()
	err := w.store().Write(url, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// wantLocal fails unless a URL has this content.
func wantLocal(t *testing.T, s *store.Store, url string, want []byte) string {
	t.Helper()
	path, err := s.Local(url)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s has %d bytes, want %d others", url, len(got), len(want))
	}
	return path
}

// wantError fails unless err has all of the texts and no secret.
func wantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q; want %q in it", err, text)
		}
	}
	noSecrets(t, err.Error())
}

func noSecrets(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{"secret", "AKID", "hf_token", "password", "Signature="} {
		if strings.Contains(text, secret) {
			t.Errorf("%q contains %q", text, secret)
		}
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// serveFile serves content with an ETag, and in ranges.
func serveFile(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+sumOf(content)[:12]+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

func TestWeb(t *testing.T) {
	w, content := newWorld(t), random(1<<20)
	server := storetest.Web(t, serveFile(content))
	path := wantLocal(t, w.store(), server.URL+"/net.pth", content)
	if filepath.Base(path) != "net.pth" || filepath.Base(filepath.Dir(path)) != sumOf(content) {
		t.Errorf("it is stored as %s", path)
	}
	server.Requests()
	wantLocal(t, w.store(), server.URL+"/net.pth", content)
	for _, r := range server.Requests() {
		if r.Method == http.MethodGet {
			t.Error("a file of the cache was fetched again")
		}
	}
	wantLocal(t, w.store(func(o *store.Options) { o.Offline = true }), server.URL+"/net.pth", content)
	if n := len(server.Requests()); n > 0 {
		t.Errorf("%d requests offline", n)
	}
	_, err := w.store(func(o *store.Options) { o.Offline = true }).Local(server.URL + "/other.pth")
	wantError(t, err, "/other.pth is not in the cache", "offline")
}

func TestMissing(t *testing.T) {
	w := newWorld(t)
	server := storetest.Web(t, http.NotFoundHandler())
	w.s3("bucket")
	for _, url := range []string{server.URL + "/x.pth", "s3://bucket/x.pth", "s3://nobucket/x"} {
		_, err := w.store().Local(url)
		if wantError(t, err, url); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
		if there, err := w.store().Exists(url); there || err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s exists: %v, %v", url, there, err)
		}
	}
}

// TestCut ends the connection after each 300 KB. The store then requests the rest, without asking for
// a byte twice.
func TestCut(t *testing.T) {
	const piece = 300_000
	w, content := newWorld(t), random(1<<20)
	server := storetest.Web(t, serveFile(content))
	sent := 0
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		start := 0
		if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
			start, _ = strconv.Atoi(strings.TrimSuffix(from, "-"))
		}
		end := min(start+piece, len(content))
		w.Header().Set("ETag", `"`+sumOf(content)[:12]+`"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(content)-start))
		if start > 0 {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(content)-1, len(content)))
			w.WriteHeader(http.StatusPartialContent)
		}
		w.Write(content[start:end])
		sent += end - start
		if end < len(content) {
			panic(http.ErrAbortHandler)
		}
		return true
	})
	wantLocal(t, w.store(), server.URL+"/net.pth", content)
	if sent != len(content) {
		t.Errorf("%d bytes were sent for %d", sent, len(content))
	}
}

// TestCutProgram ends a program during a download: the next one continues it.
func TestCutProgram(t *testing.T) {
	w, content := newWorld(t), random(1<<20)
	server := storetest.Web(t, serveFile(content))
	ctx, cancel := context.WithCancel(t.Context())
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		w.Header().Set("ETag", `"`+sumOf(content)[:12]+`"`)
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		w.Write(content[:400_000])
		w.(http.Flusher).Flush()
		time.Sleep(200 * time.Millisecond)
		cancel()
		<-r.Context().Done()
		return true
	})
	s, err := store.New(ctx, store.Options{Cache: w.cache})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Local(server.URL + "/net.pth"); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want that it was cancelled", err)
	}
	server.Before(nil)
	server.Requests()
	wantLocal(t, w.store(), server.URL+"/net.pth", content)
	for _, r := range server.Requests() {
		if r.Method == http.MethodGet && !strings.HasPrefix(r.Header.Get("Range"), "bytes=") {
			t.Error("the download began again")
		}
	}
}

func TestWrongSum(t *testing.T) {
	w, content := newWorld(t), random(10_000)
	server := storetest.Web(t, serveFile(content))
	names := func(sum string) func(*store.Options) {
		return func(o *store.Options) {
			o.Names = map[string]func(string) (store.Source, error){"named": func(string) (store.Source, error) {
				return store.Source{URL: server.URL + "/net.pth", Sum: sum}, nil
			}}
		}
	}
	_, err := w.store(names("deadbeef")).Local("named:net")
	wantError(t, err, "named:net", sumOf(content), "deadbeef was expected", "nothing was kept")
	err = filepath.WalkDir(w.cache, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			t.Errorf("%s was kept", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	wantLocal(t, w.store(names(sumOf(content)[:8])), "named:net", content)
	server.Requests()
	path := wantLocal(t, w.store(names(sumOf(content)[:8])), "named:net", content)
	if n := len(server.Requests()); n > 0 {
		t.Errorf("%d requests for a file with a known sum", n)
	}
	if err := os.WriteFile(path, random(10_001), 0o600); err != nil { // as if the disk had lost the last writes
		t.Fatal(err)
	}
	wantLocal(t, w.store(names(sumOf(content)[:8])), "named:net", content)
}

// TestChanged replaces the file between two parts of it.
func TestChanged(t *testing.T) {
	w, old, now := newWorld(t), random(1<<20), random(1<<20 + 7)[7:]
	changed := false
	server := storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !changed && r.Method == http.MethodGet {
			changed = true
			w.Header().Set("ETag", `"`+sumOf(old)[:12]+`"`)
			w.Header().Set("Content-Length", strconv.Itoa(len(old)))
			w.Write(old[:400_000])
			panic(http.ErrAbortHandler)
		}
		if changed {
			serveFile(now)(w, r)
			return
		}
		serveFile(old)(w, r)
	}))
	_, err := w.store().Local(server.URL + "/net.pth")
	wantError(t, err, "has changed on the server")
	wantLocal(t, w.store(), server.URL+"/net.pth", now)
}

func TestSlow(t *testing.T) {
	w := newWorld(t)
	server := storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Content-Length", "100000")
		if r.Method == http.MethodGet {
			w.Write(make([]byte, 10))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	s := w.store(func(o *store.Options) { o.Timeout = 200 * time.Millisecond })
	_, err := s.Local(server.URL + "/net.pth")
	wantError(t, err, "the server has sent nothing for 200ms", "store-timeout")
	if !strings.Contains(w.noted(), "attempt 5 of 5") {
		t.Errorf("notes %q", w.noted())
	}
}

func TestPlain(t *testing.T) {
	w := newWorld(t)
	_, err := w.store().Local("http://user:password@models.example/net.pth?X-Amz-Signature=secret")
	wantError(t, err, "http://models.example/net.pth is not encrypted", "allow-http")
	server := storetest.Web(t, http.RedirectHandler("http://models.example/net.pth", http.StatusFound))
	_, err = w.store().Local(server.URL + "/net.pth")
	wantError(t, err, "not encrypted")
	_, err = w.store().Local("https://user:password@[::1/net?Signature=secret")
	wantError(t, err, "is not a URL")
}

// TestTokens redirects to another host, which must not get the credentials.
func TestTokens(t *testing.T) {
	w, content := newWorld(t), random(20_000)
	hub := storetest.NewHub(t, map[string][]byte{"owner/net/model.safetensors": content})
	hub.Token = "hf_token_secret"
	w.env["HF_ENDPOINT"] = hub.URL
	_, err := w.store().Local("hf:owner/net")
	wantError(t, err, "hf:owner/net: the server answers 401 Unauthorized (GatedRepo)", "HF_TOKEN")
	w.env["HF_TOKEN"] = hub.Token
	wantLocal(t, w.store(), "hf:owner/net", content)
	others := hub.Content.Requests()
	for _, r := range others {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("another host got %s", r.Header.Get("Authorization"))
		}
	}
	if len(others) == 0 {
		t.Error("nothing was fetched from the other host")
	}
	noSecrets(t, w.noted())
	noSecretsInFiles(t, w.cache, content)
}

func noSecretsInFiles(t *testing.T, folder string, content []byte) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(b, content) {
			noSecrets(t, string(b))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHub(t *testing.T) {
	w := newWorld(t)
	one, two := random(30_000), random(31_000)
	hub := storetest.NewHub(t, map[string][]byte{"o/n/model-00001-of-00002.safetensors": one,
		"o/n/model-00002-of-00002.safetensors": two, "o/n/model.safetensors.index.json": []byte("{}"),
		"o/n/README.md": []byte("x"), "o/n/a b/ü#?.bin": one})
	w.env["HF_ENDPOINT"] = hub.URL
	folder, err := w.store().Local("hf:o/n")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 3 || files[0].Name() != "model-00001-of-00002.safetensors" {
		t.Errorf("%s has %v, %v", folder, files, err)
	}
	wantLocal(t, w.store(), "hf:o/n/a b/ü#?.bin", one)
	wantLocal(t, w.store(), "hf:o/n@"+hub.Commit+"/model-00002-of-00002.safetensors", two)
	hub.Requests()
	wantLocal(t, w.store(), "hf:o/n@"+hub.Commit+"/model-00002-of-00002.safetensors", two)
	if n := len(hub.Requests()); n > 0 {
		t.Errorf("%d requests for the file of a commit", n)
	}
	for _, bad := range []string{"hf:o", "hf:o/n@", "hf:o/n/../x", "hf:../n", "hf:o/n?x/y"} {
		_, err := w.store().Local(bad)
		wantError(t, err, "does not name a repository of the hub")
	}
}

// TestTwoPrograms fetches one file with two stores at the same time.
func TestTwoPrograms(t *testing.T) {
	w, content := newWorld(t), random(1<<20)
	server := storetest.Web(t, serveFile(content))
	server.SetDelay(100 * time.Millisecond)
	var wait sync.WaitGroup
	for range 4 {
		s := w.store()
		wait.Go(func() {
			if _, err := s.Local(server.URL + "/net.pth"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	fetched := 0
	for _, r := range server.Requests() {
		if r.Method == http.MethodGet {
			fetched++
		}
	}
	if fetched != 1 {
		t.Errorf("the file was fetched %d times", fetched)
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"https://u:p@h/a?X-Amz-Signature=1#f": "https://h/a", "s3://b/a?b": "s3://b/a?b", "hf:o/n": "hf:o/n",
		"https:/h/a?token=1": "https:/h/a", "https:h?token=1": "https:h", "s3:b?c": "s3:b?c", "HTTPS://h/a?b": "HTTPS://h/a",
		"https://h": "https://h", "s3://u:p@b/k": "s3://b/k", "oci://u:p@r/x:t#f": "oci://r/x:t#f",
	} {
		if got := store.Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestOpenRedacts opens a missing file at a URL with a signature: the error does not show it.
func TestOpenRedacts(t *testing.T) {
	server := storetest.Web(t, http.NotFoundHandler())
	regular.SetRemote(newWorld(t).store())
	t.Cleanup(func() { regular.SetRemote(nil) })
	_, err := regular.Open(server.URL + "/net.pth?Signature=secret")
	wantError(t, err, server.URL+"/net.pth: ")
	noSecrets(t, fmt.Sprint(err))
}

// TestURLWithPassword refuses a user and a password in a URL, and does not repeat them.
func TestURLWithPassword(t *testing.T) {
	server := storetest.Web(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the server was asked")
	}))
	for _, user := range []string{"alice:sesame", "sesame", "alice:"} {
		at := strings.Replace(server.URL, "://", "://"+user+"@", 1) + "/net.pth"
		_, err := newWorld(t).store().Local(at)
		if text := fmt.Sprint(err); !strings.Contains(text, server.URL+"/net.pth has a user or a password") ||
			!strings.Contains(text, ".netrc") || strings.Contains(text, "sesame") || strings.Contains(text, "alice") {
			t.Errorf("%s: %s", user, text)
		}
		if err := newWorld(t).store().Writable(at); err == nil {
			t.Errorf("%s can be written", user)
		}
	}
}

// TestNetrc reads a name and a password from a file, and does not send them to another host after a
// redirect.
func TestNetrc(t *testing.T) {
	content := random(5_000)
	other := storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); a != "" {
			t.Errorf("another host got %s", a)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	server := storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if login, password, _ := r.BasicAuth(); login != "me" || password != "password" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/x", http.StatusFound)
	}))
	w := newWorld(t)
	_, err := w.store().Local(server.URL + "/net.pth")
	wantError(t, err, "401")
	w.env["NETRC"] = filepath.Join(t.TempDir(), "netrc")
	text := "machine other.example login x password y\nmachine 127.0.0.1\n  login me\n  password password\n"
	if err := os.WriteFile(w.env["NETRC"], []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := w.store()
	wantLocal(t, s, server.URL+"/net.pth", content)
	os.Remove(w.env["NETRC"]) // the file is read only once
	wantLocal(t, s, server.URL+"/other.pth", content)
	noSecrets(t, w.noted())
	noSecretsInFiles(t, w.cache, content)
}

func TestCacheCommands(t *testing.T) {
	w, content := newWorld(t), random(5_000)
	server := storetest.Web(t, serveFile(content))
	for _, name := range []string{"/a.pth", "/b.pth"} {
		wantLocal(t, w.store(), server.URL+name, content)
	}
	s := w.store()
	files, _, err := s.Cached()
	if err != nil || len(files) != 2 || files[0].URL != server.URL+"/a.pth" || files[0].Sum != sumOf(content) {
		t.Fatalf("cached: %v, %v", files, err)
	}
	if n, err := s.Remove(server.URL + "/a.pth"); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := os.Stat(files[1].Path); err != nil {
		t.Errorf("the content of another URL is gone: %v", err)
	}
	if n, err := s.Remove(sumOf(content)); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if _, err := os.Stat(files[1].Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the content is still there: %v", err)
	}
}
