package pickle

import (
	"fmt"
	"slices"
)

func mark(m *machine) error {
	m.marks = append(m.marks, len(m.stack))
	return m.charge(costSlot)
}

func pop(m *machine) error {
	if len(m.marks) > 0 && m.floor() == len(m.stack) { // POP at a MARK removes the MARK
		m.marks = m.marks[:len(m.marks)-1]
		return nil
	}
	_, err := m.pop()
	return err
}

func popMark(m *machine) error {
	_, err := m.takeMarked()
	return err
}

func tuple(n int) func(*machine) error {
	return func(m *machine) error {
		values, err := m.take(n)
		if err != nil {
			return err
		}
		return m.pushTuple(values)
	}
}

func markedTuple(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	return m.pushTuple(values)
}

func (m *machine) pushTuple(values []any) error {
	if err := m.charge(costHeader + costSlot*int64(len(values))); err != nil {
		return err
	}
	return m.push(Tuple(slices.Clone(values)))
}

func (m *machine) pushObject(v any) error {
	if err := m.charge(costObject); err != nil {
		return err
	}
	return m.push(v)
}

func emptyList(m *machine) error { return m.pushObject(&List{}) }
func emptyDict(m *machine) error { return m.pushObject(&Dict{}) }
func emptySet(m *machine) error  { return m.pushObject(&Set{}) }

func appendOne(m *machine) error {
	values, err := m.take(1)
	if err != nil {
		return err
	}
	return m.extend(values)
}

func appendMarked(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	return m.extend(values)
}

// extend appends values to the list, or object, on top of the stack.
func (m *machine) extend(values []any) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *List:
		v.Items = append(v.Items, values...)
	case *Call:
		v.List.Items = append(v.List.Items, values...)
	default:
		return fmt.Errorf("appending to %s", Describe(v))
	}
	return m.charge(costSlot * int64(len(values)))
}

func markedList(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	list := &List{Items: slices.Clone(values)}
	if err := m.charge(costSlot * int64(len(values))); err != nil {
		return err
	}
	return m.pushObject(list)
}

func addItems(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	set, ok := v.(*Set)
	if !ok {
		return fmt.Errorf("adding to %s", Describe(v))
	}
	set.Items = append(set.Items, values...)
	return m.charge(costSlot * int64(len(values)))
}

func frozenSet(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	set := &Set{Items: slices.Clone(values)}
	if err := m.charge(costSlot * int64(len(values))); err != nil {
		return err
	}
	return m.pushObject(set)
}

func setItem(m *machine) error {
	values, err := m.take(2)
	if err != nil {
		return err
	}
	return m.setItems(values)
}

func setMarked(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	return m.setItems(values)
}

// setItems sets keys and values, in turn, on the dict, or object, on top of the stack.
func (m *machine) setItems(pairs []any) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	var d *Dict
	switch v := v.(type) {
	case *Dict:
		d = v
	case *Call:
		d = &v.Items
	default:
		return fmt.Errorf("setting items of %s", Describe(v))
	}
	return m.setPairs(d, pairs)
}

func (m *machine) setPairs(d *Dict, pairs []any) error {
	if len(pairs)%2 != 0 {
		return fmt.Errorf("a key without a value")
	}
	if err := m.charge(costEntry * int64(len(pairs)/2)); err != nil {
		return err
	}
	for i := 0; i < len(pairs); i += 2 {
		d.set(pairs[i], pairs[i+1])
	}
	return nil
}

func markedDict(m *machine) error {
	values, err := m.takeMarked()
	if err != nil {
		return err
	}
	d := &Dict{}
	if err := m.setPairs(d, values); err != nil {
		return err
	}
	return m.pushObject(d)
}
