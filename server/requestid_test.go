package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// locked is a buffer for several goroutines.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *locked) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.b.String()), "\n")
}

// TestLogHasIDs checks that the log line of a request has the ids of the request and of its trace, and that
// notes are lines in the same form.
func TestLogHasIDs(t *testing.T) {
	log := &locked{}
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Access = slog.New(slog.NewJSONHandler(log, nil))
	o.Note = LogNotes(o.Access)
	s := start(t, o)
	body := jsonRequest(pictures(rand.New(rand.NewPCG(1, 1)), 1))
	withID := bytes.Replace(body, []byte(`"id":"q"`), []byte(`"id":17`), 1)
	const trace = "0af7651916cd43dd8448eb211c80319c"
	r := ask(t, s, "POST", "/v2/models/m/infer", withID, "Traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	if r.status != 200 || !bytes.Contains(r.body, []byte(`"id":"17"`)) {
		t.Errorf("%d %s", r.status, r.body)
	}
	ask(t, s, "GET", "/v2", nil, "X-Request-ID", "from a proxy \u0085"+strings.Repeat("x", 500),
		"Traceparent", "00-"+trace[:31]+"-b7ad6b7169203331-01")
	s.o.note("%s is lost", "cpu:0")
	var got []map[string]any
	until(t, "three lines", func() bool { return len(log.lines()) == 3 })
	for _, line := range log.lines() {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := time.Parse(time.RFC3339Nano, fmt.Sprint(m["time"])); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		got = append(got, m)
	}
	if got[0]["request_id"] != "17" || got[0]["trace_id"] != trace {
		t.Errorf("%v", got[0])
	}
	if id := fmt.Sprint(got[1]["request_id"]); !strings.HasPrefix(id, "from a proxy") || len(id) > 140 ||
		strings.Contains(id, "\u0085") || got[1]["trace_id"] != "" {
		t.Errorf("%v", got[1])
	}
	if got[2]["msg"] != "cpu:0 is lost" || got[2]["level"] != "INFO" {
		t.Errorf("%v", got[2])
	}
}

// TestRepeatedNotes checks that once writes a note only once, although every model has it, because every
// model opens devices of its own.
func TestRepeatedNotes(t *testing.T) {
	var got []string
	note := withoutRepeats(func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) })
	for range 3 {
		note("unused here: %d CUDA devices", 2)
		note("100%% of %s", "a")
	}
	if want := []string{"unused here: 2 CUDA devices", "100% of a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSkipBadModels checks that a bad model is an error at the start. With SkipBad the server skips it, and
// tries it again when its file changes.
func TestSkipBadModels(t *testing.T) {
	folder := t.TempDir()
	good, err := os.ReadFile(write(t, newModel(t, 1), "m.bnm"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("bad.bnm", good[:len(good)/2])
	o := on("ref", folder)
	o.SkipBad = true
	const none = "none of 1 model can be served"
	if s, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), none) {
		t.Errorf("with no model that can be served: %v", err)
		s.Close()
	}
	put("m.bnm", good)
	o.SkipBad = false
	if s, err := Open(t.Context(), o); err == nil {
		t.Error("a bad model is no error")
		s.Close()
	}
	var mu sync.Mutex
	var notes []string
	o.SkipBad, o.Poll = true, 20*time.Millisecond
	o.Note = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, fmt.Sprintf(format, args...))
	}
	s := start(t, o)
	mu.Lock()
	if len(notes) != 1 || !strings.Contains(notes[0], "bad.bnm is not served: ") {
		t.Errorf("notes %q", notes)
	}
	mu.Unlock()
	if a, b := ask(t, s, "GET", "/v2/models/m", nil), ask(t, s, "GET", "/v2/models/bad", nil); a.status != 200 ||
		b.status != 404 {
		t.Errorf("%d, %d", a.status, b.status)
	}
	put("bad.bnm", good)
	until(t, "the repaired model", func() bool { return ask(t, s, "GET", "/v2/models/bad", nil).status == 200 })
}

// TestErrorsNameNoGoTypes checks that errors about JSON name fields and types of JSON, never types of Go.
func TestErrorsNameNoGoTypes(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	for body, want := range map[string]string{
		`[]`:                           "it is a JSON array, want an object",
		`{"inputs":5}`:                 "inputs is a JSON number, want a list",
		`{"inputs":[{"name":7}]}`:      "name is a JSON number, want a string",
		`{"inputs":[{"shape":"1"}]}`:   "is a JSON string, want a list",
		`{"inputs":[{"shape":[1.5]}]}`: "is a JSON number, want a whole number",
		`{"inputs":[{"parameters":{"binary_data_size":"1"}}]}`: "binary_data_size is a JSON string, want a whole number",
		`{"outputs":[{"parameters":{"binary_data":1}}]}`:       "binary_data is a JSON number, want true or false",
		`{"id":[1]}`:                    "id [1]: want a string or a number",
		`{"parameters":{"timeout":{}}}`: "timeout is a JSON object, want a whole number",
		`{`:                             "unexpected end of JSON input",
	} {
		r := ask(t, s, "POST", "/v2/models/m/infer", []byte(body))
		var e struct{ Error string }
		if err := json.Unmarshal(r.body, &e); err != nil || r.status != 400 || !strings.Contains(e.Error, want) ||
			strings.Contains(e.Error, "Go ") || strings.Contains(e.Error, "protocol.") {
			t.Errorf("%s: %d %s, want %q", body, r.status, r.body, want)
		}
	}
	for _, id := range []string{`"a b"`, `5`, `-1.5e3`, `""`, `12345678901234567890`} {
		body := bytes.Replace(jsonRequest(pictures(rand.New(rand.NewPCG(1, 1)), 1)), []byte(`"id":"q"`),
			[]byte(`"id":`+id), 1)
		r := ask(t, s, "POST", "/v2/models/m/infer", body)
		if want := strings.Trim(id, `"`); r.status != 200 || want != "" &&
			!bytes.Contains(r.body, []byte(`"id":"`+want+`"`)) {
			t.Errorf("id %s: %d %.80s", id, r.status, r.body)
		}
	}
}

// TestStatistics checks the numbers of requests, rows and batches in Triton's statistics.
func TestStatistics(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a/1/model.bnm", "a/2/model.bnm", "b/1/model.bnm"} {
		b, err := os.ReadFile(write(t, newModel(t, 1), "m.bnm"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := on("ref", folder)
	o.Versions = "all"
	s := start(t, o)
	for rows := 1; rows < 4; rows++ {
		ask(t, s, "POST", "/v2/models/a/versions/2/infer", jsonRequest(pictures(rand.New(rand.NewPCG(1, 1)), rows)))
	}
	type reply struct {
		Stats []struct {
			Name, Version string
			Last          int64                                `json:"last_inference"`
			Inferences    int                                  `json:"inference_count"`
			Executions    int                                  `json:"execution_count"`
			Stats         map[string]struct{ Count, NS int64 } `json:"inference_stats"`
			Batches       []any                                `json:"batch_stats"`
		} `json:"model_stats"`
	}
	for path, want := range map[string]string{"/v2/models/stats": "a2 a1 b1", "/v2/models/a/stats": "a2 a1",
		"/v2/models/a/versions/1/stats": "a1", "/v2/models/b/stats": "b1"} {
		var all reply
		r := ask(t, s, "GET", path, nil)
		if err := json.Unmarshal(r.body, &all); err != nil || r.status != 200 {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
		var names []string
		for _, m := range all.Stats {
			names = append(names, m.Name+m.Version)
			asked := m.Name+m.Version == "a2"
			ok := m.Last == 0 && m.Inferences == 0 && m.Executions == 0 && m.Stats["success"].Count == 0
			if asked {
				ok = m.Inferences == 6 && m.Executions > 0 && m.Stats["success"].Count == 3 &&
					m.Stats["success"].NS >= m.Stats["compute_infer"].NS && m.Stats["compute_infer"].NS > 0 &&
					time.Since(time.UnixMilli(m.Last)) < time.Hour
			}
			if !ok || m.Batches == nil {
				t.Errorf("%s: %+v", path, m)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if r := ask(t, s, "GET", "/v2/models/c/stats", nil); r.status != 404 {
		t.Errorf("of no model: %d", r.status)
	}
}
