package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/pretrained"
	"github.com/bnctl/bnctl/internal/storetest"
)

// scriptTest is a script that owns test servers, in the place of a test.
type scriptTest struct{ *testscript.TestScript }

func (s scriptTest) Cleanup(f func())  { s.Defer(f) }
func (s scriptTest) Fatal(args ...any) { s.Fatalf("%v", args) }

// storeVariables are the environment variables that startStores sets.
var storeVariables = strings.Fields("AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT_URL REGISTRY " +
	"HF_ENDPOINT HF_TOKEN WEB TORCHVISION_ENDPOINT BNCTL_CACHE DOCKER_CONFIG")

// storeEnvironment returns those variables of startStores that are set in a script, with their values.
func storeEnvironment(ts *testscript.TestScript) (env []string) {
	for _, name := range storeVariables {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// startStores starts an S3 server with the bucket "bucket", a registry, a hub with the files of the folder
// hub, and a web server with the files of the folder web. It sets environment variables so that bnctl uses
// them. $REGISTRY and $WEB are the addresses of the registry and the web server.
func startStores(ts *testscript.TestScript, _ bool, _ []string) {
	t := scriptTest{ts}
	files := map[string][]byte{}
	folder := ts.MkAbs("hub")
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		name, err := filepath.Rel(folder, path)
		if err == nil {
			files[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	ts.Check(err)
	web := storetest.Web(t, http.FileServer(http.Dir(ts.MkAbs("web"))))
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "verysecretkey",
		"AWS_ENDPOINT_URL": storetest.S3(t, "bucket").URL,
		"REGISTRY":         strings.TrimPrefix(storetest.Registry(t).URL, "http://"),
		"HF_ENDPOINT":      storetest.NewHub(t, files).URL, "HF_TOKEN": "hf_token",
		"WEB": web.URL, "TORCHVISION_ENDPOINT": web.URL,
		"BNCTL_CACHE": ts.MkAbs("cache"), "DOCKER_CONFIG": ts.MkAbs("docker"),
	} {
		ts.Setenv(name, value)
	}
}

// mainOfStores is main, with one change to torchvision's table of weights. The environment variable PUBLISHED
// has a network, and the name of the file that replaces the file of its default weights.
func mainOfStores() {
	if network, file, ok := strings.Cut(os.Getenv("PUBLISHED"), "="); ok {
		for i, all := 0, pretrained.All(); i < len(all); i++ {
			if w := &all[i]; w.Network == network && w.Default {
				w.URL = w.URL[:strings.LastIndex(w.URL, "/")+1] + file
				w.Sum = strings.TrimSuffix(file[strings.LastIndex(file, "-")+1:], ".pth")
			}
		}
	}
	main()
}

// publish implements the command "publish FILE NETWORK". It copies a file of weights to web/models, under a
// name in the form of torchvision's: NETWORK-DIGITS.pth, with the first eight digits of its SHA-256. It sets
// $FILE to the name.
func publish(ts *testscript.TestScript, _ bool, args []string) {
	b := ts.ReadFile(args[0])
	name := fmt.Sprintf("%s-%.4x.pth", args[1], sha256.Sum256([]byte(b)))
	ts.Check(os.WriteFile(ts.MkAbs("web/models/"+name), []byte(b), 0o600))
	ts.Setenv("FILE", name)
	ts.Setenv("PUBLISHED", args[1]+"="+name)
}

// await implements two commands. "await STATUS PATH" sends requests to the server of the command serving
// until an answer has that status. "await FILE PATH BODY" sends a body until the answer ends with the content
// of the file. Both fail after a minute.
func await(ts *testscript.TestScript, _ bool, args []string) {
	status, err := strconv.Atoi(args[0])
	want := ""
	if err != nil {
		status, want = http.StatusOK, ts.ReadFile(args[0])
	}
	got := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		method, body := http.MethodGet, ""
		if len(args) > 2 {
			method, body = http.MethodPost, ts.ReadFile(args[2])
		}
		r, err := http.NewRequest(method, "http://"+ts.Getenv("HTTP")+args[1], strings.NewReader(body))
		ts.Check(err)
		r.Header.Set("Inference-Header-Content-Length", "0")
		answer, err := http.DefaultClient.Do(r)
		ts.Check(err)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		ts.Check(err)
		if answer.StatusCode == status && strings.HasSuffix(string(text), want) {
			return
		}
		got = answer.Status
	}
	ts.Fatalf("%s is not as wanted after a minute: %s", args[1], got)
}

// upload implements the command "upload DIR...". It writes the files of folders into the bucket, with their
// paths as keys. "! upload" removes them from the bucket.
func upload(ts *testscript.TestScript, neg bool, args []string) {
	method, want := http.MethodPut, http.StatusOK
	if neg {
		method, want = http.MethodDelete, http.StatusNoContent
	}
	for _, dir := range args {
		for _, path := range filesOf(ts, dir) {
			b, err := os.ReadFile(ts.MkAbs(path))
			ts.Check(err)
			to := ts.Getenv("AWS_ENDPOINT_URL") + "/bucket/" + path
			r, err := http.NewRequest(method, to, bytes.NewReader(b))
			ts.Check(err)
			answer, err := http.DefaultClient.Do(r)
			ts.Check(err)
			answer.Body.Close()
			if answer.StatusCode != want {
				ts.Fatalf("%s: %s", to, answer.Status)
			}
		}
	}
}

// shard implements the command "shard DIR FOLDER". It writes the files of a folder, CLASS/KEY.EXT, into two
// tar files in another folder.
func shard(ts *testscript.TestScript, _ bool, args []string) {
	all := filesOf(ts, args[0])
	ts.Check(os.MkdirAll(ts.MkAbs(args[1]), 0o700))
	for i, files := range [][]string{all[:len(all)/2], all[len(all)/2:]} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, path := range files {
			content, err := os.ReadFile(ts.MkAbs(path))
			ts.Check(err)
			name := strings.TrimPrefix(path, args[0]+"/")
			ts.Check(w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))}))
			_, err = w.Write(content)
			ts.Check(err)
		}
		ts.Check(w.Close())
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("%s/s-%d.tar", args[1], i)), b.Bytes(), 0o600))
	}
}

// filesOf returns the sorted paths of the files in a folder of the script.
func filesOf(ts *testscript.TestScript, dir string) (paths []string) {
	root := ts.MkAbs(".")
	err := filepath.WalkDir(ts.MkAbs(dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		paths = append(paths, filepath.ToSlash(name))
		return err
	})
	ts.Check(err)
	return paths
}
