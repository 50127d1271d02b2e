package store_test

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
)

func writeOf(content []byte) func(io.Writer) error {
	return func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	}
}

// machine returns a store with a separate cache.
func (w *world) machine() *store.Store {
	return w.store(func(o *store.Options) { o.Cache = filepath.Join(w.t.TempDir(), "cache") })
}

func lock(t *testing.T, s *store.Store, url string) {
	t.Helper()
	unlock, err := s.Lock(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unlock)
}

// TestTwoMachines lets two machines write one checkpoint. One of them gets an error with a sentence, and the
// file of the other machine stays. The second file has several parts, for which S3 has another request.
func TestTwoMachines(t *testing.T) {
	w := newWorld(t)
	w.s3("bucket")
	registry := strings.TrimPrefix(storetest.Registry(t).URL, "http://")
	google := storetest.Google(t, "bucket")
	w.env["STORAGE_EMULATOR_HOST"], w.env["GOOGLE_OAUTH_ACCESS_TOKEN"] = google.URL, "verysecrettoken"
	for _, url := range []string{"s3://bucket/run.bnc", "gs://bucket/run.bnc",
		"oci://" + registry + "/runs/run:v1#run.bnc"} {
		one, other := w.machine(), w.machine()
		lock(t, one, url)
		lock(t, other, url)
		first, second := random(30_000), random(17<<20)
		if err := one.Write(url, writeOf(first)); err != nil {
			t.Fatal(err)
		}
		for _, content := range [][]byte{first[1:], first, second} {
			err := other.Write(url, writeOf(content))
			wantError(t, err, url, "another program has written it since this one began", "name another file")
		}
		wantLocal(t, w.machine(), url, first)
		for _, content := range [][]byte{second, first[2:]} {
			if err := one.Write(url, writeOf(content)); err != nil {
				t.Fatal(err)
			}
			wantLocal(t, w.machine(), url, content)
		}
		third := w.machine() // this one continues after the first has ended
		lock(t, third, url)
		if err := third.Write(url, writeOf(second)); err != nil {
			t.Error(err)
		}
		wantError(t, one.Write(url, writeOf(first)), "another program has written it")
	}
}

// TestRace lets another machine write after the version was requested and before the upload: the server
// compares the versions again.
func TestRace(t *testing.T) {
	for name, content := range map[string][]byte{"one part": random(10_000), "several parts": random(17 << 20)} {
		t.Run(name, func(t *testing.T) {
			const url = "s3://bucket/run.bnc"
			w := newWorld(t)
			server := w.s3("bucket")
			w.put(url, []byte("old"))
			mine, others := w.machine(), []byte("theirs")
			lock(t, mine, url)
			var once sync.Once
			raced := false
			server.Before(func(_ http.ResponseWriter, r *http.Request) bool {
				isLast := r.Method == http.MethodPut && !r.URL.Query().Has("partNumber") ||
					r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
				if isLast && r.Header.Get("If-Match") != "" {
					once.Do(func() {
						raced = true
						w.put(url, others)
					})
				}
				return false
			})
			err := mine.Write(url, writeOf(content))
			if !raced {
				t.Error("the upload has no condition")
			}
			if name == "several parts" { // gofakes3 does not know the condition of the last request
				return
			}
			wantError(t, err, url, "another program has written it")
			wantLocal(t, w.machine(), url, others)
		})
	}
}

// TestUnanswered cuts the connection after the server has stored a file: the next attempt finds the
// file that it has stored, and not the file of another machine.
func TestUnanswered(t *testing.T) {
	const url = "s3://bucket/run.bnc"
	w := newWorld(t)
	server := w.s3("bucket")
	s, content := w.machine(), random(20_000)
	lock(t, s, url)
	var once sync.Once
	server.Before(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || r.Header.Get("If-None-Match") == "" {
			return false
		}
		once.Do(func() {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			again, err := http.NewRequest(http.MethodPut, server.URL+r.URL.RequestURI(), bytes.NewReader(body))
			if err != nil {
				t.Error(err)
			}
			again.Header = r.Header.Clone()
			again.Header.Del("If-None-Match")
			answer, err := http.DefaultClient.Do(again)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("storing the file: %v, %v", answer, err)
			}
			panic(http.ErrAbortHandler)
		})
		return false
	})
	for _, b := range [][]byte{content, content[1:]} {
		if err := s.Write(url, writeOf(b)); err != nil {
			t.Fatal(err)
		}
		wantLocal(t, w.machine(), url, b)
	}
}

// TestExists distinguishes a file that is missing from a server that does not answer.
func TestExists(t *testing.T) {
	w := newWorld(t)
	server := w.s3("bucket")
	registry := strings.TrimPrefix(storetest.Registry(t).URL, "http://")
	for _, url := range []string{"s3://bucket/x.bnc", "s3://nobucket/x.bnc", "oci://" + registry + "/a/b:v1#x.bnc"} {
		if there, err := w.store().Exists(url); there || err != nil {
			t.Errorf("%s exists: %v, %v", url, there, err)
		}
	}
	server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("X-Minio-Error-Code", "ExpiredToken")
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	there, err := w.store().Exists("s3://bucket/x.bnc")
	if there {
		t.Error("a file that cannot be asked for exists")
	}
	wantError(t, err, "s3://bucket/x.bnc", "credentials have expired")
}
