package store_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/internal/store"
	"github.com/bnctl/bnctl/internal/storetest"
)

// childVariable has the URL that TestMain fetches instead of running tests.
const childVariable = "BNCTL_TEST_FETCH"

// TestMain is also the program that the tests of several processes start. It then prints the sum of a file.
func TestMain(m *testing.M) {
	url := os.Getenv(childVariable)
	if url == "" {
		os.Exit(m.Run())
	}
	s, err := store.New(context.Background(), store.Options{AllowHTTP: true, Timeout: 5 * time.Second})
	if err == nil {
		var path string
		if path, err = s.Local(url); err == nil {
			var b []byte
			b, err = os.ReadFile(path)
			fmt.Print(sumOf(b))
		}
	}
	if err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
}

// fetchIn fetches a URL in another process, and returns what it prints: the sum of the file, or an error.
func (w *world) fetchIn(url string, env ...string) (string, error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+url, "BNCTL_CACHE="+w.cache)
	for name, value := range w.env {
		c.Env = append(c.Env, name+"="+value)
	}
	c.Env = append(c.Env, env...)
	b, err := c.Output()
	return string(b), err
}

// TestTwoProcesses lets four processes fetch one file of a bucket: the bucket sends it only once.
func TestTwoProcesses(t *testing.T) {
	w, content := newWorld(t), random(2<<20)
	server := w.s3("bucket")
	w.put("s3://bucket/net.bnm", content)
	server.SetDelay(100 * time.Millisecond)
	server.Requests()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if got, err := w.fetchIn("s3://bucket/net.bnm"); err != nil || got != sumOf(content) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	wait.Wait()
	fetched := 0
	for _, r := range server.Requests() {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/net.bnm") {
			fetched++
		}
	}
	if fetched != 1 {
		t.Errorf("the file was fetched %d times", fetched)
	}
}

// proxy starts an HTTP proxy. It answers requests for any host with the file, and connects any host to the
// address tunnel.
func proxy(t *testing.T, content []byte, tunnel string) *storetest.Server {
	return storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			serveFile(content)(w, r)
			return
		}
		to, err := net.Dial("tcp", tunnel)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		from, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(from, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(to, from) //nolint:errcheck // the connection has ended
			to.Close()
		}()
		io.Copy(from, to) //nolint:errcheck // the connection has ended
		from.Close()
	}))
}

// TestProxies fetches through the proxies of the environment. The names of the hosts do not exist.
func TestProxies(t *testing.T) {
	w, content, secure := newWorld(t), random(50_000), random(60_000)
	tlsServer := storetest.WebTLS(t, serveFile(secure))
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tlsServer.Certificate().Raw})
	if err := os.WriteFile(certificate, b, 0o600); err != nil {
		t.Fatal(err)
	}
	server := proxy(t, content, tlsServer.Listener.Addr().String())
	env := []string{"HTTP_PROXY=" + server.URL, "HTTPS_PROXY=" + server.URL, "SSL_CERT_FILE=" + certificate}
	for url, want := range map[string][]byte{"http://models.invalid/net.pth": content,
		"https://example.com/net.pth": secure} {
		if got, err := w.fetchIn(url, env...); err != nil || got != sumOf(want) {
			t.Errorf("%s: %s, %v", url, got, err)
		}
	}
	methods := map[string]bool{}
	for _, r := range server.Requests() {
		methods[r.Method] = true
	}
	if !methods[http.MethodGet] || !methods[http.MethodConnect] {
		t.Errorf("the proxy had requests %v", methods)
	}
	got, err := w.fetchIn("http://other.invalid/net.pth", append(env, "NO_PROXY=other.invalid")...)
	if err == nil || !strings.Contains(got, "http://other.invalid/net.pth") {
		t.Errorf("a host of NO_PROXY: %s, %v", got, err)
	}
	if n := len(server.Requests()); n > 0 {
		t.Errorf("%d requests for a host of NO_PROXY", n)
	}
	bad := "http://user:verysecretkey@127.0.0.1:1"
	got, err = w.fetchIn("http://third.invalid/net.pth", "HTTP_PROXY="+bad)
	if err == nil || !strings.Contains(got, "proxyconnect") {
		t.Errorf("a proxy that does not answer: %s, %v", got, err)
	}
	noSecrets(t, got)
}

// TestManyFiles lists a bucket of 100,000 objects in pages, and keeps none of them.
func TestManyFiles(t *testing.T) {
	const all = 100_000
	w := newWorld(t)
	server := w.s3("bucket")
	for i := range all {
		server.Put("bucket", fmt.Sprintf("photos/%06d.png", i), []byte("content"))
	}
	begin, n := time.Now(), 0
	for f, err := range w.store().Files("s3://bucket/photos/") {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%06d.png", n); f.Name != want {
			t.Fatalf("file %s, want %s", f.Name, want)
		}
		if n++; n == 1 {
			if pages := len(server.Requests()); pages != 1 {
				t.Errorf("%d requests before the first file", pages)
			}
		}
	}
	if n != all {
		t.Errorf("%d files, want %d", n, all)
	}
	t.Logf("%d files in %v, %d more requests", n, time.Since(begin), len(server.Requests()))
	_, err := w.store().Local("s3://bucket/photos")
	wantError(t, err, "more than 10000 files")
}

// TestDigest fetches an artifact by its digest: the content stays when the tag moves, and the
// registry is not asked for it again. A damaged copy is fetched again.
func TestDigest(t *testing.T) {
	w := newWorld(t)
	server := storetest.Registry(t)
	host, content := strings.TrimPrefix(server.URL, "http://"), random(40_000)
	tag := "oci://" + host + "/nets/net:v1#net.bnm"
	w.put(tag, content)
	answer, err := http.Head(server.URL + "/v2/nets/net/manifests/v1")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	pinned := "oci://" + host + "/nets/net@" + answer.Header.Get("Docker-Content-Digest")
	w.put(tag, content[1:])
	path := wantLocal(t, w.store(), pinned, content)
	server.Requests()
	wantLocal(t, w.store(), pinned, content)
	if n := len(server.Requests()); n > 0 {
		t.Errorf("%d requests for a digest in the cache", n)
	}
	if err := os.WriteFile(path, content[2:], 0o600); err != nil {
		t.Fatal(err)
	}
	wantLocal(t, w.store(), pinned, content)
	_, err = w.store().Local("oci://" + host + "/nets/net@sha256:" + strings.Repeat("0", 64))
	wantError(t, err, "no such artifact")
	err = w.store().Write(pinned, writeOf(content))
	wantError(t, err, "a digest names a file that exists already")
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		isManifest := strings.Contains(r.URL.Path, "/manifests/") && r.Method == http.MethodGet
		if isManifest {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Write(bytes.Repeat([]byte(" "), 10)) // this is not the content that the digest names
		}
		return isManifest
	})
	os.RemoveAll(w.cache)
	if _, err = w.store().Local(pinned); err == nil {
		t.Error("a manifest with another digest was accepted")
	}
}

// TestRefusedRegistry checks that the error has the registry's answer to missing and to expired credentials.
func TestRefusedRegistry(t *testing.T) {
	w := newWorld(t)
	server := storetest.Registry(t)
	url := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/nets/net:v1"
	server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
		return true
	})
	_, err := w.store().Local(url)
	wantError(t, err, url, "401 Unauthorized", "docker login")
	err = w.store().Write(url, writeOf([]byte("x")))
	wantError(t, err, url, "401 Unauthorized", "docker login")
}
