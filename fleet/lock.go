package fleet

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/problem"
)

// Added is a plugin that was recorded in devices.lock.
type Added struct {
	remote.Locked               // the recorded name, path, SHA-256 and version
	About         device.Plugin // description by the plugin
	Devices       []Listed      // a plugin without devices has one entry with the reason
}

// Add starts the plugin at path, inspects it and records it in devices.lock, replacing another plugin of
// the same name. From then on Start starts it as long as the file has the recorded SHA-256. If the plugin
// cannot be started or recorded, Add returns an error and leaves devices.lock unchanged.
func (p Plugins) Add(ctx context.Context, path string) (*Added, error) {
	cmd, err := p.Command(path)
	if err != nil {
		return nil, err
	}
	plugin, err := remote.Start(ctx, cmd)
	if err != nil {
		return nil, err
	}
	defer plugin.Close()
	list, reason, err := plugin.List(ctx)
	if err != nil {
		return nil, err
	}
	a := &Added{About: plugin.Describe()}
	if a.Locked, err = plugin.Locked(); err != nil {
		return nil, err
	}
	a.Devices = listed(a.Name, a.About, list, reason)
	l, err := remote.ReadLock()
	if err != nil {
		return nil, err
	}
	return a, l.With(a.Locked).Write()
}

// Remove removes the plugin from devices.lock; its file stays in place. The error is a
// *problem.Unknown if devices.lock does not contain it.
func Remove(name string) error {
	l, err := remote.ReadLock()
	if err != nil {
		return err
	}
	rest := l.Without(name)
	if len(rest) == len(l) {
		u := &problem.Unknown{What: "plugin", Name: name}
		for _, x := range l {
			u.Known = append(u.Known, x.Name)
		}
		return u
	}
	return rest.Write()
}

// Status is a plugin compared with devices.lock. State is one of: own (it is in the folder
// of this program and needs no lock), locked (it is the file that was added), changed (the
// file has been replaced), unlocked (it was never added), missing (its file cannot be
// read), or runs (another process has started it).
type Status struct {
	Name     string `json:"name"`
	Path     string `json:"path"`               // absolute; "" if another process has started the plugin
	Version  string `json:"version,omitempty"`  // version when it was added
	Protocol int    `json:"protocol,omitempty"` // protocol when it was added
	SHA256   string `json:"sha256,omitempty"`   // SHA-256 of the current file, in hexadecimal
	State    string `json:"state"`
}

// Statuses compares the plugins of Find with devices.lock, in the order of Find, without
// starting them. It fails if a folder or the lock cannot be read.
func (p Plugins) Statuses() ([]Status, error) {
	found, err := p.Find()
	if err != nil {
		return nil, err
	}
	l, err := remote.ReadLock()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, f := range found {
		all = append(all, statusOf(f, l))
	}
	return all, nil
}

func statusOf(f remote.Found, l remote.Lock) Status {
	s := Status{Name: f.Name, Path: f.Path, State: "unlocked"}
	if f.Path == "" {
		s.State = "runs"
		return s
	}
	sum, err := remote.Sum(f.Path)
	if err != nil {
		s.State = "missing"
		return s
	}
	s.SHA256 = sum
	row := l.Find(f.Name, f.Path)
	switch {
	case f.Bundled:
		s.State = "own"
	case row != nil && row.SHA256 == sum:
		s.State, s.Version, s.Protocol = "locked", row.Version, row.Protocol
	case row != nil:
		s.State = "changed"
	}
	return s
}
