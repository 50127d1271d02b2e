package main

import (
	"io"
	"sync"
)

// connections are connections to a server that are idle at present, to be used again.
type connections[C io.Closer] struct {
	mu   sync.Mutex
	idle []C
}

// get returns the connection that was used last, or a new one.
func (c *connections[C]) get(connect func() (C, error)) (C, error) {
	c.mu.Lock()
	n := len(c.idle)
	if n == 0 {
		c.mu.Unlock()
		return connect()
	}
	defer c.mu.Unlock()
	last := c.idle[n-1]
	c.idle = c.idle[:n-1]
	return last, nil
}

func (c *connections[C]) put(one C) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, one)
}

func (c *connections[C]) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.idle {
		_ = one.Close() // the connection is not needed any more
	}
}
