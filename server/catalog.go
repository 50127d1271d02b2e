package server

import (
	"slices"
	"sync"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// catalog is the set of model versions that are served.
type catalog struct {
	mu     sync.RWMutex
	names  []string                   // names in order of arrival
	models map[string][]*modelVersion // the highest version first; never empty
}

// find returns a version of a model. The version "" means the highest version.
func (c *catalog) find(name, version string) (*modelVersion, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := c.models[name]
	if all == nil {
		return nil, protocol.Refuse(protocol.NotFound, "model %.80q does not exist", name)
	}
	if version == "" {
		return all[0], nil
	}
	for _, m := range all {
		if m.label() == version {
			return m, nil
		}
	}
	return nil, protocol.Refuse(protocol.NotFound, "model %s has no version %.80q", name, version)
}

// put adds m, and returns the version that m replaces, or nil.
func (c *catalog) put(m *modelVersion) (was *modelVersion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.models[m.name])
	i := slices.IndexFunc(all, func(other *modelVersion) bool { return other.version <= m.version })
	switch {
	case i < 0:
		all = append(all, m)
	case all[i].version == m.version:
		was, all[i] = all[i], m
	default:
		all = slices.Insert(all, i, m)
	}
	if c.models == nil {
		c.models = map[string][]*modelVersion{}
	}
	if c.models[m.name] == nil {
		c.names = append(c.names, m.name)
	}
	c.models[m.name] = all
	return was
}

// remove removes m from the catalog, so that no new request uses it.
func (c *catalog) remove(m *modelVersion) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isM := func(other *modelVersion) bool { return other == m }
	all := slices.DeleteFunc(slices.Clone(c.models[m.name]), isM)
	if c.models[m.name] = all; len(all) == 0 {
		delete(c.models, m.name)
		c.names = slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return name == m.name })
	}
}

// allVersions returns all versions of all models. The versions of a model follow each other.
func (c *catalog) allVersions() (list []*modelVersion) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, name := range c.names {
		list = append(list, c.models[name]...)
	}
	return list
}

// versions returns the versions of a model as texts, as the protocol writes them, in ascending order.
func (c *catalog) versions(name string) (labels []string) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, m := range slices.Backward(c.models[name]) {
		labels = append(labels, m.label())
	}
	return labels
}
