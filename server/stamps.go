package server

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// stamps detects changes of files by their size, time and mode.
type stamps struct {
	paths  []string
	last   string // size, time and mode of each file, or the error
	looked time.Time
}

// changed reports whether a file has changed since the previous call. It checks at most once a
// second.
func (s *stamps) changed() bool {
	if time.Since(s.looked) < time.Second {
		return false
	}
	s.looked = time.Now()
	var now strings.Builder
	for _, path := range s.paths {
		if info, err := os.Stat(path); err != nil {
			fmt.Fprintln(&now, err)
		} else {
			fmt.Fprintln(&now, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
	}
	was := s.last
	s.last = now.String()
	return s.last != was
}
