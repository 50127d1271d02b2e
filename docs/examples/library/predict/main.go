package main

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/inprocess"
)

func main() {
	p, err := bnctl.Load("halves.bnm", bnctl.LoadOptions{})
	check(err)
	defer p.Close()
	names, err := filepath.Glob("photos/*")
	check(err)
	for _, name := range names {
		file, err := os.ReadFile(name)
		check(err)
		predictions, err := p.Predict(context.Background(), inprocess.Image{File: file})
		check(err)
		log.Println(name, predictions[0].Classes[0].Label)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
