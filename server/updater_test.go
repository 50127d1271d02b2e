package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// inFolder returns options for serving a folder. The server scans it often.
func inFolder(folder string) Options {
	o := on("ref", folder)
	o.Poll = 10 * time.Millisecond
	return o
}

// until waits until a condition is true. The test fails if that takes too long.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come: %s", what)
		}
	}
}

// serving lists the served versions: "m:1 m:2".
func serving(s *Server) string {
	var all []string
	for _, m := range s.Models() {
		all = append(all, fmt.Sprintf("%s:%d", m.Name, m.Version))
	}
	return strings.Join(all, " ")
}

// TestVersions checks that versions appear and disappear with their files. A bad file must change nothing.
func TestVersions(t *testing.T) {
	folder := t.TempDir()
	write(t, newModel(t, 1), folder+"/m/9/model.bnm")
	write(t, newModel(t, 2), folder+"/n.bnm")
	o := inFolder(folder)
	var notes atomic.Pointer[string]
	o.Note = func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		notes.Store(&s)
	}
	s := start(t, o)
	if got := serving(s); got != "m:9 n:1" {
		t.Fatalf("serving %s", got)
	}
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	ask(t, s, "POST", "/v2/models/m/infer", x.Bytes, jsonLength, "0")
	counted := func() bool {
		return bytes.Contains(ask(t, s, "GET", "/metrics", nil).body, []byte(`version="9"`))
	}
	if !counted() {
		t.Error("a request is not counted")
	}
	write(t, newModel(t, 3), folder+"/m/10/model.bnm")
	until(t, "version 10 instead of 9", func() bool { return serving(s) == "m:10 n:1" })
	if r := ask(t, s, "GET", "/v2/models/m", nil); !bytes.Contains(r.body, []byte(`"versions":["10"]`)) {
		t.Errorf("%s", r.body)
	}
	if r := ask(t, s, "GET", "/v2/models/m/versions/9", nil); r.status != 404 {
		t.Errorf("version 9: %d", r.status)
	}
	until(t, "metrics that forget version 9", func() bool { return !counted() })
	bad := folder + "/m/11/model.bnm"
	err := errors.Join(os.Mkdir(filepath.Dir(bad), 0o755), os.WriteFile(bad, []byte("no"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a note of version 11", func() bool {
		n := notes.Load()
		return n != nil && strings.Contains(*n, bad+" is not served")
	})
	if got := serving(s); got != "m:10 n:1" {
		t.Errorf("with a bad version 11: serving %s", got)
	}
	if r := ask(t, s, "GET", "/metrics", nil); !bytes.Contains(r.body, []byte("bnctl_updates_refused_total 1\n")) {
		t.Error("a bad version is not counted, or more than once")
	}
	if err := os.Remove(folder + "/n.bnm"); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of n", func() bool { return serving(s) == "m:10" })
	write(t, newModel(t, 4), bad)
	until(t, "version 11, mended", func() bool { return serving(s) == "m:11" })
	if err := os.Rename(folder, t.TempDir()+"/moved"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * o.Poll)
	if got := serving(s); got != "m:11" {
		t.Errorf("without the folder: serving %s", got)
	}
}

// TestAFolderThatCannotBeRead checks that a model in a folder that has become unreadable is still served,
// because its files may still exist. Another model can be replaced meanwhile.
func TestAFolderThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	write(t, newModel(t, 1), folder+"/m/1/model.bnm")
	path := write(t, newModel(t, 2), folder+"/n.bnm")
	o := inFolder(folder)
	s := start(t, o)
	sum := func() string { return s.Models()[1].SHA256 }
	before := sum()
	err := errors.Join(os.Rename(folder+"/m", t.TempDir()+"/m"), os.Symlink("m", folder+"/m")) // links to itself
	if err != nil {
		t.Fatal(err)
	}
	next, err := os.ReadFile(write(t, newModel(t, 3), "n.bnm"))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, path, next)
	until(t, "the other file of n", func() bool { return sum() != before })
	time.Sleep(5 * o.Poll)
	if got := serving(s); got != "m:1 n:1" {
		t.Errorf("serving %s", got)
	}
	if err := os.Remove(folder + "/m"); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of m", func() bool { return serving(s) == "n:1" })
}

func TestBadAtTheStart(t *testing.T) {
	folder := t.TempDir()
	_, err := Open(t.Context(), inFolder(folder))
	if err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("an empty folder: %v", err)
	}
	path := write(t, newModel(t, 1), folder+"/m.bnm")
	if b, err := os.ReadFile(path); err != nil || os.WriteFile(folder+"/n.bnm", b[:len(b)/2], 0o644) != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), inFolder(folder)); err == nil || !strings.Contains(err.Error(), "n.bnm") {
		t.Errorf("half a file: %v", err)
	}
	o := inFolder(path)
	o.Versions = "2"
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a version that is not there: %v", err)
	}
}

// TestSick checks that a model with faulty batch-norm statistics is served only if the options permit it.
func TestSick(t *testing.T) {
	m := newModel(t, 1)
	for _, s := range m.Graph.State {
		if strings.HasSuffix(s.Name, "running_var") {
			m.State[s.Name].F32()[0] = float32(math.NaN())
		}
	}
	o := on("ref", write(t, m, "m.bnm"))
	var sick *Sick
	if _, err := Open(t.Context(), o); !errors.As(err, &sick) {
		t.Fatalf("%v, want Sick", err)
	}
	o.AllowSick = true
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	if r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x)); r.status != 500 ||
		!bytes.Contains(r.body, []byte("binary_data")) {
		t.Errorf("NaN in JSON: %d %s", r.status, r.body)
	}
	if r := ask(t, s, "POST", "/v2/models/m/infer", x.Bytes, jsonLength, "0"); r.status != 200 {
		t.Errorf("NaN as bytes: %d %s", r.status, r.body)
	}
	if r := ask(t, s, "POST", "/v2/models/m/classify", photo(t, 28, 28)); r.status != 500 ||
		!bytes.Contains(r.body, []byte("output logits is not finite")) {
		t.Errorf("classes of NaN: %d %s", r.status, r.body)
	}
}

// TestReloadsUnderLoad checks that every request is answered while the model's file is repeatedly replaced.
// An answer has the SHA-256 of the file of the version that computed it.
func TestReloadsUnderLoad(t *testing.T) {
	reloads := 4
	if os.Getenv("BNCTL_SERVE") == "full" {
		reloads = 100
	}
	x := pictures(rand.New(rand.NewPCG(1, 1)), 3)
	folder, sums, answers := t.TempDir(), [2]string{}, [2][]byte{}
	var files [2][]byte
	for i := range files {
		m := newModel(t, uint64(i))
		path := write(t, m, fmt.Sprintf("%s/%d.bnm", t.TempDir(), i))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i], answers[i] = b, predicted(t, predictor(t, m, "ref"), x)
	}
	path := folder + "/m.bnm"
	if err := os.WriteFile(path, files[0], 0o644); err != nil {
		t.Fatal(err)
	}
	s := start(t, inFolder(folder))
	sums[0] = s.Models()[0].SHA256
	var stop atomic.Bool
	var asked atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for !stop.Load() {
				r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x))
				var a struct{ Parameters struct{ SHA256 string } }
				if err := json.Unmarshal(r.body, &a); err != nil || r.status != 200 {
					t.Errorf("%d %s", r.status, r.body)
					return
				}
				which := 1
				if a.Parameters.SHA256 == sums[0] {
					which = 0
				}
				if !bytes.Equal(inJSON(t, r.body), answers[which]) {
					t.Error("other bits than the version that the answer names")
				}
				asked.Add(1)
			}
		})
	}
	for i := range reloads {
		before := s.Models()[0].SHA256
		replace(t, path, files[(i+1)%2])
		until(t, "the other file", func() bool { return s.Models()[0].SHA256 != before })
	}
	stop.Store(true)
	all.Wait()
	t.Logf("%d requests over %d reloads", asked.Load(), reloads)
}

// replace replaces the contents of a file, atomically.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	f, err := os.CreateTemp(filepath.Dir(path), ".new")
	if err == nil {
		_, err = io.Copy(f, bytes.NewReader(content))
	}
	if err == nil {
		err = errors.Join(f.Close(), os.Rename(f.Name(), path))
	}
	if err != nil {
		t.Fatal(err)
	}
}
