// Service is an HTTP server that answers POST /classify with the classes of a picture: service ADDRESS MODEL.
// Its container image is FROM scratch, and has only the binary and the model.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/bnctl/bnctl/inprocess"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: service ADDRESS MODEL")
	}
	p, err := inprocess.Load(os.Args[2], inprocess.Options{Top: 3})
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /classify", func(w http.ResponseWriter, r *http.Request) {
		file, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		answers, err := p.Predict(r.Context(), inprocess.Image{File: file})
		if fault := new(inprocess.Panic); errors.As(err, &fault) {
			log.Printf("%v\n%s", err, fault.Stack)
			http.Error(w, "a fault of the service", http.StatusInternalServerError)
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[0].Classes) // the client may have left
	})
	s := &http.Server{Addr: os.Args[1], ReadHeaderTimeout: 10 * time.Second}
	log.Printf("%s, %d MiB at most", s.Addr, p.Memory()>>20)
	log.Fatal(s.ListenAndServe())
}
