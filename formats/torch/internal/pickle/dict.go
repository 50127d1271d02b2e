package pickle

// Dict is a dict with its keys in the order of their first assignment.
type Dict struct {
	Entries []Entry
	index   map[any]int // index of the keys that can be compared
}

// Entry is a key and its value.
type Entry struct{ Key, Value any }

// Get returns the value of a key that is a string or a number.
func (d *Dict) Get(key any) (any, bool) {
	if i, ok := d.index[key]; ok {
		return d.Entries[i].Value, true
	}
	return nil, false
}

// set adds an entry, or replaces the value of one. Keys other than strings and numbers are
// never treated as equal.
func (d *Dict) set(key, value any) {
	switch key.(type) {
	case string, int64, float64, bool, nil, Global:
		if i, ok := d.index[key]; ok {
			d.Entries[i].Value = value
			return
		}
		if d.index == nil {
			d.index = map[any]int{}
		}
		d.index[key] = len(d.Entries)
	}
	d.Entries = append(d.Entries, Entry{key, value})
}
