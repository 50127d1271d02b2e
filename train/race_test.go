//go:build race

package train

// underRace reports that the race detector runs. Cases that differ only in numbers are then left out.
const underRace = true
