package server

import (
	"embed"
	"io/fs"
	"net/http"
)

// page is what a browser shows at /: four files, and nothing from elsewhere.
//
//go:embed page
var page embed.FS

// pageFiles answers the files of the page.
func pageFiles() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic("server: " + err.Error()) // it is in the program
	}
	return http.FileServerFS(files)
}
