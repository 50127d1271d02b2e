package data

import (
	"sync/atomic"

	"github.com/bnctl/bnctl/tensor"
)

// cache keeps decoded samples until its memory is full. It never removes a sample: an epoch visits every
// sample once, so replacing one sample by another would not help.
type cache struct {
	slots  []atomic.Pointer[tensor.Tensor]
	budget atomic.Int64 // bytes left
}

// newCache returns a cache for n samples with a budget of opt.CacheBytes.
func newCache(n int, opt Options) *cache {
	c := &cache{slots: make([]atomic.Pointer[tensor.Tensor], n)}
	switch {
	case opt.CacheBytes > 0:
		c.budget.Store(opt.CacheBytes)
	case opt.CacheBytes == 0:
		c.budget.Store(defaultCacheBytes)
	}
	return c
}

// get returns sample i. If it is not cached, get calls read.
func (c *cache) get(i int, read func(i int) (tensor.Tensor, error)) (tensor.Tensor, error) {
	if t := c.slots[i].Load(); t != nil {
		return *t, nil
	}
	t, err := read(i)
	if err != nil {
		return tensor.Tensor{}, err
	}
	if size := int64(len(t.Bytes)); c.budget.Add(-size) < 0 {
		c.budget.Add(size)
	} else {
		c.slots[i].Store(&t)
	}
	return t, nil
}
