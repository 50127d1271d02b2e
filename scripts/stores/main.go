// Command stores starts the test servers of package internal/store on this machine, and prints environment
// variables that make bnctl use them. The servers are an S3-compatible server (gofakes3) with a bucket named
// "bucket" that has the files of the folder bucket, a registry (go-containerregistry), a hub with the files
// of the folder hub, as hub/OWNER/NAME/FILE, and a web server for the folder web. They keep all data in
// memory, so that nothing is left when the program ends.
package main

import (
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/bnctl/bnctl/internal/storetest"
)

// session owns the servers, in the place of a test.
type session struct{}

// Cleanup does nothing: the servers end with the program.
func (session) Cleanup(func()) {}

// Fatal ends the program.
func (session) Fatal(args ...any) { log.Fatal(args...) }

func main() {
	log.SetFlags(0)
	files, err := filesOf("hub")
	if err != nil {
		log.Fatal(err)
	}
	objects, err := filesOf("bucket")
	if err != nil {
		log.Fatal(err)
	}
	s3 := storetest.S3(session{}, "bucket")
	for key, content := range objects {
		s3.Put("bucket", key, content)
	}
	if len(os.Args) == 2 {
		delay, err := time.ParseDuration(os.Args[1])
		if err != nil {
			log.Fatal("usage: stores [DELAY], which each request to the S3 server lasts longer, for example 20ms")
		}
		s3.SetDelay(delay)
	}
	web := storetest.Web(session{}, http.FileServer(http.Dir("web"))).URL
	fmt.Printf("export AWS_ENDPOINT_URL=%s AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=key\n", s3.URL)
	fmt.Printf("export REGISTRY=%s\n", strings.TrimPrefix(storetest.Registry(session{}).URL, "http://"))
	fmt.Printf("export HF_ENDPOINT=%s WEB=%s TORCHVISION_ENDPOINT=%[2]s\n",
		storetest.NewHub(session{}, files).URL, web)
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt)
	<-end
}

// filesOf reads the files below a folder, by their paths in it.
func filesOf(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	if _, err := os.Stat(folder); err != nil {
		return files, nil
	}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err == nil {
			files[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	return files, err
}
