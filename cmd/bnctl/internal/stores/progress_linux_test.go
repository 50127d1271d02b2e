package stores_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/stores"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/storetest"
)

// terminal returns the two ends of a pseudo-terminal.
func terminal(t *testing.T) (controller, screen *os.File) {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { controller.Close() })
	if err := unix.IoctlSetPointerInt(int(controller.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(controller.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	return controller, screen
}

// TestProgress fetches a file slowly. A terminal shows a bar, which is removed at the end. Output to a file,
// or to a terminal with --quiet, has no bar.
func TestProgress(t *testing.T) {
	t.Setenv("TERM", "xterm")
	server := storetest.Web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "4000000")
		for range 4 {
			if r.Method == http.MethodGet {
				w.Write(make([]byte, 1_000_000))
				w.(http.Flusher).Flush()
				time.Sleep(300 * time.Millisecond)
			}
		}
	}))
	t.Cleanup(func() { regular.SetRemote(nil) })
	fetch := func(screen *os.File, args ...string) {
		t.Helper()
		t.Setenv("BNCTL_CACHE", t.TempDir())
		if err := stores.Install(t.Context(), args, screen); err != nil {
			t.Fatal(err)
		}
		f, err := regular.Open(server.URL + "/net.pth")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	controller, screen := terminal(t)
	fetch(screen, "predict", "--quiet")
	fetch(screen)
	fmt.Fprint(screen, "end")
	shown, b := []byte(nil), make([]byte, 4096)
	for !bytes.Contains(shown, []byte("end")) {
		n, err := controller.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, b[:n]...)
	}
	text := string(shown)
	if !strings.Contains(text, "fetching net.pth [") || !strings.Contains(text, "of 4.0 MB") ||
		!strings.Contains(text, "#") || !strings.HasSuffix(text, "\r\x1b[Kend") {
		t.Errorf("the terminal has %q", text)
	}
	if n := strings.Count(text, "\r\x1b[K"); n != 1 {
		t.Errorf("a bar was removed %d times: %q", n, text)
	}
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fetch(file)
	if info, err := file.Stat(); err != nil || info.Size() > 0 {
		t.Errorf("a file has %d bytes of progress", info.Size())
	}
}
