package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// single asks for one row after another in every way, and returns the median by
// HTTP. What the device took is in the lines that the server writes of each
// request, which costs it some microseconds.
func (b *bench) single(path string, n network) (first time.Duration, err error) {
	var log lines
	s, err := b.serve(path, n, &log, "--threads", "1", "--access-log")
	if err != nil {
		return 0, err
	}
	defer s.close()
	ways, _, err := b.ways(s, n)
	if err != nil {
		return 0, err
	}
	defer closeAll(ways)
	for _, w := range ways {
		log.take()
		out, err := one(w, b.turn)
		if err != nil {
			return 0, err
		}
		time.Sleep(100 * time.Millisecond) // for the last line
		queue, device, encode := log.take()
		p50 := out.quantile(0.5)
		say("one in flight, "+w.name, fmt.Sprintf("p50 %s, p99 %s ms", ms(p50), ms(out.quantile(0.99))),
			fmt.Sprintf("%.0f us more than the device's %.2f ms (queue %.0f, writing %.0f)",
				us(p50)-1000*device, device, 1000*queue, 1000*encode))
		if first == 0 {
			first = p50
		}
	}
	return first, nil
}

// one asks for one row after another, for so long.
func one(a asker, long time.Duration) (*outcome, error) {
	out := &outcome{}
	for began := time.Now(); time.Since(began) < long || len(out.took) < 10; {
		sent := time.Now()
		if _, err := a.ask(); err != nil {
			return nil, err
		}
		out.took = append(out.took, time.Since(sent))
	}
	slices.Sort(out.took)
	return out, nil
}

// lines is what a server writes of its requests.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// take returns the medians, in milliseconds, of what was written since the call before.
func (l *lines) take() (queue, device, encode float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all [3][]float64
	for {
		line, err := l.text.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var r struct {
			Rows   int
			Queue  float64 `json:"queue_ms"`
			Device float64 `json:"device_ms"`
			Encode float64 `json:"encode_ms"`
		}
		if json.Unmarshal(line, &r) != nil || r.Rows == 0 {
			continue
		}
		for i, v := range []float64{r.Queue, r.Device, r.Encode} {
			all[i] = append(all[i], v)
		}
	}
	if len(all[0]) == 0 {
		return 0, 0, 0
	}
	return median(all[0]), median(all[1]), median(all[2])
}
