package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// fabricPrefix begins the file name of every fabric plugin: bnctl-fabric-NAME.
const fabricPrefix = "bnctl-fabric-"

// FindFabric returns the fabric plugin with a name, in Folders or in
// devices.lock. In devices.lock it is listed by its file name.
func FindFabric(name string) (Found, error) {
	file := fabricPrefix + name
	for _, folder := range Folders() {
		path := filepath.Join(folder, file)
		if i, err := os.Stat(path); err == nil && i.Mode().IsRegular() {
			return Found{Name: file, Path: path, Bundled: folder == programFolder()}, nil
		}
	}
	lock, err := ReadLock()
	if err != nil {
		return Found{}, err
	}
	for _, l := range lock {
		if l.Name == file {
			return Found{Name: l.Name, Path: l.Path}, nil
		}
	}
	return Found{}, device.Errorf("", "", device.Unavailable, "%w",
		problem.Advise("build it and put it there, or add it with {plugin-add}",
			"the fabric plugin %s is in none of %s", file, strings.Join(Folders(), ", ")))
}

// ParseFabric splits a fabric's name, NAME or NAME:LIBRARY: the
// name of its plugin, and the path of the library that the plugin is to use:
//
//	mpi                              the library of the launcher
//	mpi:/opt/openmpi/lib/libmpi.so   this one
func ParseFabric(text string) (name, library string, err error) {
	name, library, _ = strings.Cut(text, ":")
	if name == "" || strings.ContainsAny(name, `/\`) {
		return "", "", fmt.Errorf("%q is no name of a fabric", name)
	}
	return name, library, nil
}
