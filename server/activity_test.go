package server

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestActivity checks that a request counts in the slot in which it ends, and that old slots are forgotten.
func TestActivity(t *testing.T) {
	var a activity
	began := time.Unix(1_000_000_000, 0)
	a.count(began, &record{rows: 3, queued: 2 * time.Millisecond, computed: 5 * time.Millisecond}, false)
	a.count(began.Add(time.Second), &record{rows: 1, queued: 4 * time.Millisecond, computed: time.Millisecond},
		false)
	a.count(began.Add(slotTime), &record{}, true)
	a.wait(began.Add(slotTime), 7)
	a.wait(began.Add(slotTime), 4)
	last := a.last(began.Add(2 * slotTime))
	if len(last) != slots {
		t.Fatalf("%d slots, want %d", len(last), slots)
	}
	first, second, now := last[slots-3], last[slots-2], last[slots-1]
	if first.answered != 2 || first.rows != 4 || first.queued != 6*time.Millisecond ||
		first.computed != 6*time.Millisecond || first.slowest != 7*time.Millisecond {
		t.Errorf("the first slot: %+v", first)
	}
	if second.failed != 1 || second.answered != 0 || second.waiting != 7 || now.answered != 0 {
		t.Errorf("the second: %+v, the last: %+v", second, now)
	}
	for i, s := range a.last(began.Add((slots + 1) * slotTime)) {
		if s.answered+s.failed+s.waiting != 0 && i > 0 {
			t.Errorf("slot %d is of before: %+v", i, s)
		}
	}
}

// TestActivityOfServer checks the figures that the web page shows against the requests. Charts must contain
// no text from clients.
func TestActivityOfServer(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	ask(t, s, "POST", "/v2/models/m/classify", photo(t, 20, 20))
	ask(t, s, "POST", "/v2/models/made-up/classify", photo(t, 20, 20))
	var got activityReport
	until(t, "the request", func() bool {
		r := ask(t, s, "GET", "/v2/models/m/activity", nil)
		if err := json.Unmarshal(r.body, &got); err != nil {
			t.Fatalf("%s: %v", r.body, err)
		}
		return got.Requests == 1
	})
	if got.Answers != "classes" || !got.Pictures || got.Rows != 1 || got.Failed != 0 || got.DeviceMS <= 0 ||
		got.Slowest < got.DeviceMS || got.Minutes != 5 || got.Token || len(got.Charts) != 3 {
		t.Errorf("%+v", got)
	}
	for _, c := range got.Charts {
		if !strings.HasPrefix(string(c.SVG), "<svg ") || strings.Contains(string(c.SVG), "style=") ||
			strings.Contains(string(c.SVG), "made-up") { // the page's content security policy forbids style attributes
			t.Errorf("%s: %.100s", c.Title, c.SVG)
		}
	}
	if r := ask(t, s, "GET", "/page.css", nil); !bytes.Contains(r.body, []byte("--series0")) ||
		!bytes.Contains(r.body, []byte("#drop")) {
		t.Error("the page has not the style of all pages")
	}
}
