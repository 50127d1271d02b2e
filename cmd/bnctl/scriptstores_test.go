package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bnctl/bnctl/internal/storetest"
)

// scriptTest is a script as the owner of servers.
type scriptTest struct{ *testscript.TestScript }

func (s scriptTest) Cleanup(f func())  { s.Defer(f) }
func (s scriptTest) Fatal(args ...any) { s.Fatalf("%v", args) }

// storeVariables are the variables that startStores sets.
var storeVariables = strings.Fields("AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT_URL REGISTRY " +
	"HF_ENDPOINT HF_TOKEN WEB TORCHVISION_ENDPOINT BNCTL_CACHE DOCKER_CONFIG")

// storeEnvironment returns the variables of startStores that are set in a script.
func storeEnvironment(ts *testscript.TestScript) (env []string) {
	for _, name := range storeVariables {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// startStores starts an S3 server with the bucket "bucket", a registry, a hub with the files in the folder
// hub, and a web server with those in the folder web. It sets the environment for them: $REGISTRY and
// $WEB are their addresses.
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

// upload DIR... writes the files of folders into the bucket, with their paths as keys.
func upload(ts *testscript.TestScript, _ bool, args []string) {
	for _, dir := range args {
		for _, path := range filesOf(ts, dir) {
			b, err := os.ReadFile(ts.MkAbs(path))
			ts.Check(err)
			to := ts.Getenv("AWS_ENDPOINT_URL") + "/bucket/" + path
			r, err := http.NewRequest(http.MethodPut, to, bytes.NewReader(b))
			ts.Check(err)
			answer, err := http.DefaultClient.Do(r)
			ts.Check(err)
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				ts.Fatalf("%s: %s", to, answer.Status)
			}
		}
	}
}

// shard DIR FOLDER writes the files of a folder, CLASS/KEY.EXT, into two tar files in another.
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

// filesOf returns the paths of the files in a folder of the script, in order.
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
