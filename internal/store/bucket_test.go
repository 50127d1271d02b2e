package store_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/internal/storetest"
)

func TestBucket(t *testing.T) {
	w := newWorld(t)
	w.s3("bucket")
	content := random(70 << 10)
	for _, url := range []string{"s3://bucket/net.bnm", "s3://bucket/a folder/ünï cödé 漢字 +&?#%.bnm"} {
		w.put(url, content)
		wantLocal(t, w.store(), url, content)
		if there, err := w.store().Exists(url); !there || err != nil {
			t.Errorf("%s exists: %v, %v", url, there, err)
		}
	}
	w.put("s3://bucket/net.bnm", content[1:])
	wantLocal(t, w.store(), "s3://bucket/net.bnm", content[1:])
	folder, err := w.store().Local("s3://bucket/a folder")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(folder, "ünï cödé 漢字 +&?#%.bnm"))
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file in the folder: %v", err)
	}
	if err := w.store().Writable("s3://nobucket/x"); err == nil || !strings.Contains(err.Error(), "no bucket nobucket") {
		t.Errorf("a bucket that does not exist: %v", err)
	}
}

// TestGoogle uses gs:// with a token, through the XML API that Google Cloud Storage and S3 have in common.
func TestGoogle(t *testing.T) {
	w := newWorld(t)
	server := storetest.S3(t, "bucket")
	w.env["STORAGE_EMULATOR_HOST"] = server.URL
	w.env["GOOGLE_OAUTH_ACCESS_TOKEN"] = "verysecrettoken"
	w.put("gs://bucket/net.bnm", []byte("content"))
	wantLocal(t, w.store(), "gs://bucket/net.bnm", []byte("content"))
	for _, r := range server.Requests() {
		if r.Header.Get("Authorization") != "Bearer verysecrettoken" {
			t.Errorf("%s %s has the authorization %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
	}
}

func TestRefusedCredentials(t *testing.T) {
	w := newWorld(t)
	server := w.s3("bucket")
	w.put("s3://bucket/net.bnm", []byte("content"))
	for code, want := range map[string]string{"ExpiredToken": "the credentials have expired",
		"AccessDenied": "AWS_ACCESS_KEY_ID", "SignatureDoesNotMatch": "AWS_PROFILE"} {
		server.Before(func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("X-Minio-Error-Code", code) // a response to HEAD has no body
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
			return true
		})
		_, err := w.store().Local("s3://bucket/net.bnm")
		wantError(t, err, "s3://bucket/net.bnm", want)
		err = w.store().Write("s3://bucket/net.bnm", func(io.Writer) error { return nil })
		wantError(t, err, "s3://bucket/net.bnm", want)
	}
	server.Before(nil)
	wantLocal(t, w.store(), "s3://bucket/net.bnm", []byte("content"))
}

// TestWriteIsAtomic lets uploads fail in the middle: the old file stays.
func TestWriteIsAtomic(t *testing.T) {
	w, old := newWorld(t), random(50_000)
	server := w.s3("bucket")
	w.put("s3://bucket/run.bnc", old)
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			io.CopyN(io.Discard, r.Body, 10_000)
			panic(http.ErrAbortHandler)
		}
		return false
	})
	err := w.store().Write("s3://bucket/run.bnc", func(to io.Writer) error {
		_, err := to.Write(random(60_000))
		return err
	})
	wantError(t, err, "writing s3://bucket/run.bnc", "unchanged")
	server.Before(nil)
	wantLocal(t, w.store(), "s3://bucket/run.bnc", old)
	left, _ := filepath.Glob(filepath.Join(w.cache, "staging", "*", "*"))
	if len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestFiles lists and reads the files of a folder. There are files in other folders, too.
func TestFiles(t *testing.T) {
	w := newWorld(t)
	server := w.s3("bucket")
	want := []string{"cat/a.png", "cat/b c.png", "dog/ä.png"}
	for _, name := range want {
		w.put("s3://bucket/photos/"+name, []byte(name))
	}
	w.put("s3://bucket/photos2/x.png", []byte("x"))
	var got []string
	for f, err := range w.store().Files("s3://bucket/photos") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.Name)
		content, err := f.Read()
		if err != nil || string(content) != f.Name || f.Size != int64(len(f.Name)) {
			t.Errorf("%s: %q, %v", f.Name, content, err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	server.Requests()
	for f := range w.store().Files("s3://bucket/photos") {
		f.Read() //nolint:errcheck // the file was read before
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests for files of the cache, want the list alone", n)
	}
	for f := range w.store().Files("s3://bucket/photos") {
		w.put("s3://bucket/photos/"+f.Name, []byte("other"))
		os.RemoveAll(w.cache)
		_, err := f.Read()
		wantError(t, err, "has changed")
		break
	}
}

func TestRegistry(t *testing.T) {
	w := newWorld(t)
	server := storetest.Registry(t)
	host := strings.TrimPrefix(server.URL, "http://")
	content := random(40_000)
	url := "oci://" + host + "/nets/net:v1#net.bnm"
	w.put(url, content)
	path := wantLocal(t, w.store(), url, content)
	if filepath.Base(path) != "net.bnm" {
		t.Errorf("it is stored as %s", path)
	}
	wantLocal(t, w.store(), "oci://"+host+"/nets/net:v1", content)
	w.put(url, content[1:])
	wantLocal(t, w.store(), "oci://"+host+"/nets/net:v1", content[1:])
	_, err := w.store().Local("oci://" + host + "/nets/net:v2")
	wantError(t, err, "/nets/net:v2", "no such artifact")
	for _, bad := range []string{"oci://" + host + "/nets/net", "oci://x", "oci://" + host + "/nets/net:v1#../x"} {
		_, err := w.store().Local(bad)
		wantError(t, err, "write oci://REGISTRY/REPOSITORY:TAG")
	}
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/blobs/") || r.Method != http.MethodGet {
			return false
		}
		w.Write(random(39_999))
		return true
	})
	os.RemoveAll(w.cache)
	_, err = w.store().Local("oci://" + host + "/nets/net:v1")
	wantError(t, err, "SHA-256", "was expected")
}
