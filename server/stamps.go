package server

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// stamps says when files that are read again have changed.
type stamps struct {
	paths  []string
	last   string // size and time of each, or why there are none
	looked time.Time
}

// changed reports whether a file is not as it was at the call before. It looks
// once a second at most.
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
