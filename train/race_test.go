//go:build race

package train

// underRace reports that the race detector is enabled. Tests then leave out cases that differ only in
// numbers.
const underRace = true
