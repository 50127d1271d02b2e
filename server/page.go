package server

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/bnctl/bnctl/internal/style"
)

// page is the web page at /: four files without external resources, in the style of bnctl's other pages.
//
//go:embed page
var page embed.FS

// pageFiles serves the files of the page. It ignores requests for ranges of bytes.
func pageFiles() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic("server: " + err.Error()) // the page is part of the program
	}
	whole := http.FileServerFS(files)
	sheet, err := fs.ReadFile(files, "page.css")
	if err != nil {
		panic("server: " + err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page.css" {
			w.Header().Set("Content-Type", "text/css; charset=utf-8")
			_, _ = w.Write(append([]byte(style.CSS()), sheet...))
			return
		}
		r.Header.Del("Range")
		whole.ServeHTTP(w, r)
	})
}
