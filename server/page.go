package server

import (
	"embed"
	"io/fs"
	"net/http"
)

// page is the web page at /: four files without external resources.
//
//go:embed page
var page embed.FS

// pageFiles serves the files of the page, each as a whole.
func pageFiles() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic("server: " + err.Error()) // it is in the program
	}
	whole := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		whole.ServeHTTP(w, r)
	})
}
