package store_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
)

// clocked returns a store that records the waits of its requests instead of waiting.
func clocked(w *world) (*store.Store, func() []time.Duration) {
	var mu sync.Mutex
	var waits []time.Duration
	s := w.store()
	s.SetSleep(func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, d)
	})
	return s, func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		all := waits
		waits = nil
		return all
	}
}

// failing lets a server answer its first n requests with a status.
func failing(server *storetest.Server, n, status int, after string) {
	var mu sync.Mutex
	server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if n--; n < 0 {
			return false
		}
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		return true
	})
}

// stand is a kind of server with a file.
type stand struct {
	server   *storetest.Server
	url      string
	writable bool
}

// stands returns a server of each kind, with this content.
func stands(w *world, content []byte) []stand {
	s3, google := w.s3("bucket"), storetest.Google(w.t, "bucket")
	w.env["STORAGE_EMULATOR_HOST"], w.env["GOOGLE_OAUTH_ACCESS_TOKEN"] = google.URL, "verysecrettoken"
	hub := storetest.NewHub(w.t, map[string][]byte{"me/net/model.safetensors": content})
	w.env["HF_ENDPOINT"] = hub.URL
	registry := storetest.Registry(w.t)
	web := storetest.Web(w.t, serveFile(content))
	all := []stand{{s3.Server, "s3://bucket/net.bnm", true}, {google.Server, "gs://bucket/net.bnm", true},
		{registry, "oci://" + strings.TrimPrefix(registry.URL, "http://") + "/nets/net:v1#net.bnm", true},
		{web, web.URL + "/net.bnm", false}, {hub.Server, "hf:me/net/model.safetensors", false}}
	for _, to := range all {
		if to.writable {
			w.put(to.url, content)
		}
	}
	return all
}

// TestPatience checks that each kind of server gets at most five requests, after the waits that it asks for.
func TestPatience(t *testing.T) {
	w, content := newWorld(t), random(5_000)
	for _, at := range stands(w, content) {
		for _, status := range []int{429, 503} {
			s, waits := clocked(w)
			failing(at.server, 2, status, "7")
			if there, err := s.Exists(at.url); !there || err != nil {
				t.Errorf("%s, %d: %v, %v", at.url, status, there, err)
			}
			if got := waits(); !slices.Equal(got, []time.Duration{7 * time.Second, 7 * time.Second}) {
				t.Errorf("%s, %d: it waited for %v", at.url, status, got)
			}
			if at.writable {
				failing(at.server, 2, status, "9")
				if err := s.Write(at.url, writeOf(content)); err != nil {
					t.Errorf("writing %s, %d: %v", at.url, status, err)
				}
				if got := waits(); !slices.Equal(got, []time.Duration{9 * time.Second, 9 * time.Second}) {
					t.Errorf("writing %s, %d: it waited for %v", at.url, status, got)
				}
			}
		}
		for _, status := range []int{500, 502, 504, 408} {
			s, waits := clocked(w)
			failing(at.server, 1000, status, "")
			at.server.Requests()
			_, err := s.Exists(at.url)
			wantError(t, err, fmt.Sprint(status)[:1])
			if n := len(at.server.Requests()); n != 5 {
				t.Errorf("%s, %d: %d requests", at.url, status, n)
			}
			const first = 10 * time.Millisecond
			if got := waits(); !slices.Equal(got, []time.Duration{first, 2 * first, 4 * first, 8 * first}) {
				t.Errorf("%s, %d: it waited for %v", at.url, status, got)
			}
		}
		s, waits := clocked(w)
		failing(at.server, 1000, 503, "86400")
		at.server.Requests()
		if _, err := s.Exists(at.url); err == nil {
			t.Errorf("%s: no error", at.url)
		}
		if n, got := len(at.server.Requests()), waits(); n != 1 || got != nil {
			t.Errorf("%s: a day is too long, and there were %d requests after %v", at.url, n, got)
		}
		at.server.Before(nil)
	}
	if !strings.Contains(w.noted(), "attempt 2 of 5 in 7s") {
		t.Errorf("notes %.500q", w.noted())
	}
	noSecrets(t, w.noted())
}

// TestPatienceInTheMiddle fails requests for a part of an upload and for a page of a list: only these are
// sent again.
func TestPatienceInTheMiddle(t *testing.T) {
	w, content := newWorld(t), random(50<<20)
	server := w.s3("bucket")
	s, waits := clocked(w)
	var mu sync.Mutex
	failures, parts := 4, 0
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Query().Get("partNumber") == "" {
			return false
		}
		parts++
		if r.URL.Query().Get("partNumber") != "2" || failures == 0 {
			return false
		}
		failures--
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	if err := s.Write("s3://bucket/run.bnc", writeOf(content)); err != nil {
		t.Fatal(err)
	}
	if got := waits(); len(got) != 4 || got[0] != 3*time.Second || parts != 8 {
		t.Errorf("it waited for %v, and sent %d parts", got, parts)
	}
	wantLocal(t, w.store(), "s3://bucket/run.bnc", content)

	for i := range 2500 {
		server.Put("bucket", fmt.Sprintf("many/%04d", i), []byte("x"))
	}
	pages := 0
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("list-type") == "" {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		pages++
		if pages == 2 || pages == 4 || pages == 5 {
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	})
	n := 0
	for f, err := range s.Files("s3://bucket/many") {
		if err != nil || f.Name != fmt.Sprintf("%04d", n) {
			t.Fatalf("file %d is %s, %v", n, f.Name, err)
		}
		n++
	}
	if n != 2500 || pages != 6 {
		t.Errorf("%d files in %d requests", n, pages)
	}
}

// TestExpired finds the reason of an answer to HEAD, which has no body.
func TestExpired(t *testing.T) {
	w := newWorld(t)
	server := w.s3("bucket")
	w.put("s3://bucket/net.bnm", []byte("content"))
	for _, c := range []struct {
		status     int
		code, want string
	}{
		{400, "ExpiredToken", "the credentials have expired"}, {400, "InvalidToken", "AWS_ACCESS_KEY_ID"},
		{403, "SignatureDoesNotMatch", "SignatureDoesNotMatch"}, {403, "RequestTimeTooSkewed", "clock"},
		{400, "TokenRefreshRequired", "renew the credentials"},
	} {
		server.Before(func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(c.status)
			if r.Method != http.MethodHead {
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", c.code)
			}
			return true
		})
		_, err := w.store().Local("s3://bucket/net.bnm")
		wantError(t, err, "s3://bucket/net.bnm", c.want)
		wantError(t, w.store().Writable("s3://bucket/net.bnm"), "s3://bucket/net.bnm", c.want)
		for _, err := range w.store().Files("s3://bucket/net") {
			wantError(t, err, "s3://bucket/net", c.want)
		}
	}
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusBadRequest) // requests with GET are answered
		}
		return r.Method == http.MethodHead
	})
	_, err := w.store().Local("s3://bucket/net.bnm")
	wantError(t, err, "s3://bucket/net.bnm: the server answers 400")
}

// TestGoogleRace lets another machine write after the version was requested and before the upload: the
// server refuses the upload.
func TestGoogleRace(t *testing.T) {
	for name, old := range map[string][]byte{"a new file": nil, "a file": []byte("old")} {
		t.Run(name, func(t *testing.T) {
			const url = "gs://bucket/run.bnc"
			w, server := newWorld(t), storetest.Google(t, "bucket")
			w.env["STORAGE_EMULATOR_HOST"], w.env["GOOGLE_OAUTH_ACCESS_TOKEN"] = server.URL, "verysecrettoken"
			if old != nil {
				w.put(url, old)
			}
			mine := w.machine()
			lock(t, mine, url)
			for _, content := range [][]byte{random(10_000), random(17 << 20)} {
				if err := mine.Write(url, writeOf(content)); err != nil {
					t.Fatal(err)
				}
				wantLocal(t, w.machine(), url, content)
			}
			var once sync.Once
			server.Before(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPut && r.Header.Get("X-Goog-If-Generation-Match") != "" {
					once.Do(func() { w.put(url, []byte("theirs")) })
				}
				return false
			})
			wantError(t, mine.Write(url, writeOf(random(10_000))), url, "another program has written it")
			wantLocal(t, w.machine(), url, []byte("theirs"))
		})
	}
}

// TestRegistryRace moves a tag after the upload of another program: the program that wrote first gets a
// sentence. A registry cannot prevent it.
func TestRegistryRace(t *testing.T) {
	w, server := newWorld(t), storetest.Registry(t)
	url := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/runs/run:v1#run.bnc"
	w.put(url, []byte("old"))
	mine := w.machine()
	lock(t, mine, url)
	tagged, raced := false, false
	server.Before(func(_ http.ResponseWriter, r *http.Request) bool {
		isTag := strings.HasSuffix(r.URL.Path, "/manifests/v1")
		if isTag && r.Method == http.MethodPut {
			tagged = true
		} else if isTag && tagged && !raced {
			raced = true
			w.put(url, []byte("theirs"))
		}
		return false
	})
	wantError(t, mine.Write(url, writeOf(random(10_000))), url, "another program has written it")
	wantLocal(t, w.machine(), url, []byte("theirs"))
}
