package server

import (
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc/status"
)

// TestLongErrors checks that errors with long text from clients are shortened in the middle, and keep their
// beginning and end.
func TestLongErrors(t *testing.T) {
	err := invalid("input %q: there is none", strings.Repeat("x", 20<<10))
	w := httptest.NewRecorder()
	writeError(w, err)
	for _, text := range []string{w.Body.String(), status.Convert(asStatus(err)).Message()} {
		if len(text) > 600 || !strings.Contains(text, "input ") || !strings.Contains(text, "there is none") ||
			!strings.Contains(text, "(20083 characters left out)") { // 20480 + 3 for quotes and a colon - 400
			t.Errorf("%d bytes: %.700s", len(text), text)
		}
	}
}
