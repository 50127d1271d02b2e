package remote

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// prefix begins the file name of every plugin: bnctl-device-NAME.
const prefix = "bnctl-device-"

// pathKey names folders with plugins, as a list like $PATH.
const pathKey = "BNCTL_PLUGIN_PATH"

// Found is an executable with the name of a plugin. It has not been run and may be
// something else: only its name is known.
type Found struct {
	Name    string // name of the plugin: "cpu" of bnctl-device-cpu
	Path    string // absolute
	Bundled bool   // in the folder of this program, so that a user who can change it can change this program too

	greeting string // greeting of a process that is already running; Path is then ""
}

// PluginName returns the NAME of a file bnctl-device-NAME. For another file it
// returns the name of the file.
func PluginName(path string) string {
	return strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".exe"), prefix)
}

// Folders returns the folders in which Find looks for plugins, in order of preference:
// $BNCTL_PLUGIN_PATH, the user's plugin folder, lib/bnctl/plugins next to the folder of this program,
// and that folder. It includes neither $PATH nor the current folder.
func Folders() []string {
	folders := filepath.SplitList(os.Getenv(pathKey))
	if data, err := dataFolder(); err == nil {
		folders = append(folders, filepath.Join(data, "plugins"))
	}
	if program := programFolder(); program != "" {
		folders = append(folders, filepath.Join(filepath.Dir(program), "lib", "bnctl", "plugins"), program)
	}
	return slices.DeleteFunc(folders, func(f string) bool { return !filepath.IsAbs(f) })
}

// programFolder returns the folder of this program; "" if it is unknown.
func programFolder() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Dir(self)
}

// dataFolder is this program's folder among the user's data.
func dataFolder() (string, error) {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "bnctl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "share", "bnctl"), nil
}

// Find returns the plugins that could be started. If several have the same name, it returns the first in
// this order. It does not run any of them.
//
//  1. plugins that already run ($BNCTL_REATTACH_DEVICES);
//  2. the executables at paths, which the user has named in this call;
//  3. executables in Folders, in the order of Folders;
//  4. executables in devices.lock, which may be anywhere.
func Find(paths ...string) ([]Found, error) {
	all, err := attached()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		all = append(all, Found{Name: PluginName(path), Path: absolute})
	}
	for _, folder := range Folders() {
		// An unreadable folder counts as missing and yields no plugins.
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) && !e.IsDir() {
				path := filepath.Join(folder, e.Name())
				all = append(all, Found{Name: PluginName(path), Path: path, Bundled: folder == programFolder()})
			}
		}
	}
	lock, err := ReadLock()
	if err != nil {
		return nil, err
	}
	for _, l := range lock {
		all = append(all, Found{Name: l.Name, Path: l.Path})
	}
	return firstOfName(all), nil
}

// firstOfName keeps only the first plugin of each name.
func firstOfName(all []Found) []Found {
	var out []Found
	for _, f := range all {
		if !slices.ContainsFunc(out, func(o Found) bool { return o.Name == f.Name }) {
			out = append(out, f)
		}
	}
	return out
}

// guarded returns an error if others could have changed the plugin. It does not check the
// folder of this program: a user that can write there can change the program itself.
func (f Found) guarded() error {
	if i, err := os.Lstat(f.Path); err == nil && f.Bundled && i.Mode().IsRegular() {
		return checkNotWritable(f.Path, i)
	}
	return guarded(f.Path)
}

// Command returns the command that starts f. There are three outcomes:
//  1. f came with this program, unlocked plugins are allowed, or f is already running: the SHA-256
//     of the file is not checked.
//  2. devices.lock has f: the command starts f only if its SHA-256 is as recorded there.
//  3. The error is of kind Unavailable if the file does not exist or others could have changed it,
//     and ErrUnlocked if it is not in devices.lock.
func (f Found) Command(allowUnlocked bool) (Command, error) {
	c := Command{Name: f.Name, Path: f.Path, Greeting: f.greeting}
	if c.Greeting != "" {
		return c, nil
	}
	if err := f.guarded(); err != nil {
		return c, c.fail("start", device.Unavailable, "%w", err)
	}
	if f.Bundled || allowUnlocked {
		return c, nil
	}
	lock, err := ReadLock()
	if err != nil {
		return c, err
	}
	row := lock.Find(f.Name, f.Path)
	if row == nil {
		return c, problem.Advise("look at it with {plugin-add} "+f.Path+", or use {allow-unlocked}",
			"plugin %s (%s) %w", f.Name, f.Path, ErrUnlocked)
	}
	if err := row.check(); err != nil { // an empty sum would check nothing
		return c, c.fail("start", device.Unavailable, "devices.lock: %w", err)
	}
	c.SHA256 = row.SHA256
	return c, nil
}
