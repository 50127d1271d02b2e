package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// The program of the example is short, and works in an empty folder as the only process.
func TestService(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 60 {
		t.Errorf("the program has %d lines, want at most 60", n)
	}
	folder := t.TempDir()
	m, err := models.Build("lenet-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 3)
	}
	if err == nil {
		_, err = serialize.WriteModel(filepath.Join(folder, "model.bnm"), m)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(folder, "service"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := free(t)
	c := exec.Command(filepath.Join(folder, "service"), address, "model.bnm")
	c.Dir, c.Env = folder, []string{} // no HOME, no PATH
	began := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		c.Process.Kill()
		c.Wait()
	}()
	var photo bytes.Buffer
	if err := png.Encode(&photo, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	var answer []struct{ P float32 }
	for tries := 0; ; tries++ {
		text, code, err := post(address, photo.Bytes())
		if err == nil && code == http.StatusOK && json.Unmarshal(text, &answer) == nil {
			break
		}
		if tries > 5000 {
			t.Fatalf("%d %s %v", code, text, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Logf("the first answer came %v after the start", time.Since(began).Round(time.Millisecond))
	if len(answer) != 3 || answer[0].P < answer[2].P {
		t.Errorf("the answer is %v", answer)
	}
	if text, code, err := post(address, []byte("no picture")); code != http.StatusBadRequest {
		t.Errorf("%d %s %v, want 400", code, text, err)
	}
	entries, _ := os.ReadDir(folder)
	if len(entries) != 2 {
		t.Errorf("the service wrote files: %v", entries)
	}
}

// free returns an address that no program listens at.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func post(address string, body []byte) ([]byte, int, error) {
	r, err := http.Post(fmt.Sprintf("http://%s/classify", address), "image/png", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return text, r.StatusCode, err
}
