package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// single sends requests of one row, one after another, in every way, and returns the median time by HTTP. For
// each request the server writes the time on the device into its log, which costs some microseconds.
func (b *bench) single(path string, n network) (first time.Duration, err error) {
	log, err := newLog()
	if err != nil {
		return 0, err
	}
	defer log.Close()
	s, err := b.serve(path, n, log.File, "--threads", "1", "--access-log")
	if err != nil {
		return 0, err
	}
	defer s.close()
	ways, _, err := b.ways(s, n, dialBare)
	if err != nil {
		return 0, err
	}
	defer closeAll(ways)
	for _, w := range ways {
		log.take()
		before := s.use()
		out, err := one(w, b.turn)
		if err != nil {
			return 0, err
		}
		used := s.use().each(before, len(out.took))
		time.Sleep(100 * time.Millisecond) // wait until the server has written the last line
		queue, device, encode := log.take()
		p50 := out.quantile(0.5)
		say("one in flight, "+w.name, fmt.Sprintf("p50 %s, p99 %s ms", ms(p50), ms(out.quantile(0.99))),
			fmt.Sprintf("%.0f us more than the device's %.2f ms (queue %.0f, writing %.0f); %s",
				us(p50)-1000*device, device, 1000*queue, 1000*encode, used))
		if first == 0 {
			first = p50
		}
	}
	return first, nil
}

// one sends requests of one row, one after another, until a duration is over.
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

// lines keeps the server's log of its requests in memory. If another process read it from a pipe, it would
// take turns with the server on its core, and writing it to disk would cost the server time.
type lines struct {
	*os.File
	r *bufio.Reader
}

func newLog() (*lines, error) {
	fd, err := unix.MemfdCreate("log", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "log")
	return &lines{f, bufio.NewReader(io.NewSectionReader(f, 0, math.MaxInt64))}, nil
}

// take returns the medians, in milliseconds, of the lines since the previous call.
func (l *lines) take() (queue, device, encode float64) {
	var all [3][]float64
	for {
		line, err := l.r.ReadBytes('\n')
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
