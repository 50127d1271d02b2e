package storetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hub is a server with the URLs of the Hugging Face hub. It redirects requests for files to another server,
// as the hub does for files in Git LFS.
type Hub struct {
	*Server
	Content *Server // target of redirects
	Commit  string
	Token   string            // token that requests need; "": no token
	files   map[string][]byte // files by OWNER/NAME/PATH
}

// NewHub starts a hub with files, by OWNER/NAME/PATH.
func NewHub(t Test, files map[string][]byte) *Hub {
	h := &Hub{Commit: strings.Repeat("c0ffee12", 5), files: files}
	h.Server, h.Content = start(t, http.HandlerFunc(h.serve)), start(t, http.HandlerFunc(h.serveContent))
	return h
}

// sumOf returns the SHA-256 of a file.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	if h.Token != "" && r.Header.Get("Authorization") != "Bearer "+h.Token {
		w.Header().Set("X-Error-Code", "GatedRepo")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if rest, ok := strings.CutPrefix(r.URL.Path, "/api/models/"); ok {
		h.serveList(w, rest)
		return
	}
	names := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 5)
	if len(names) != 5 || names[2] != "resolve" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	name := names[0] + "/" + names[1] + "/" + names[4]
	content, ok := h.files[name]
	if !ok || names[3] != "main" && names[3] != h.Commit {
		w.Header().Set("X-Error-Code", "EntryNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("X-Repo-Commit", h.Commit)
	w.Header().Set("X-Linked-Size", strconv.Itoa(len(content)))
	w.Header().Set("X-Linked-Etag", `"`+sumOf(content)+`"`)
	w.Header().Set("Location", h.Content.URL+"/blob/"+sumOf(content)+"?X-Amz-Signature=secret-signature")
	w.WriteHeader(http.StatusFound)
}

// serveList answers with the files of a repository.
func (h *Hub) serveList(w http.ResponseWriter, path string) {
	owner, path, _ := strings.Cut(path, "/")
	name, _, _ := strings.Cut(path, "/")
	type sibling struct {
		Name string `json:"rfilename"`
	}
	answer := struct {
		Commit string    `json:"sha"`
		Files  []sibling `json:"siblings"`
	}{Commit: h.Commit}
	for file := range h.files {
		if below, ok := strings.CutPrefix(file, owner+"/"+name+"/"); ok {
			answer.Files = append(answer.Files, sibling{below})
		}
	}
	slices.SortFunc(answer.Files, func(a, b sibling) int { return strings.Compare(a.Name, b.Name) })
	if answer.Files == nil {
		w.Header().Set("X-Error-Code", "RepoNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the client reports the error
}

// serveContent serves files by their sums, completely or in ranges.
func (h *Hub) serveContent(w http.ResponseWriter, r *http.Request) {
	for _, content := range h.files {
		if strings.HasSuffix(r.URL.Path, sumOf(content)) {
			w.Header().Set("ETag", `"another-etag"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}
