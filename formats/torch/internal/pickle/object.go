package pickle

import "fmt"

func put(size int) func(*machine) error {
	return func(m *machine) error {
		i, err := m.uint(size)
		if err != nil {
			return err
		}
		return m.remember(i)
	}
}

func memoize(m *machine) error { return m.remember(uint64(len(m.memo))) }

func get(size int) func(*machine) error {
	return func(m *machine) error {
		i, err := m.uint(size)
		if err != nil {
			return err
		}
		return m.recall(i)
	}
}

func global(m *machine) error {
	module, err := m.line(maxLine)
	if err != nil {
		return err
	}
	name, err := m.line(maxLine)
	if err != nil {
		return err
	}
	return m.pushObject(Global{module, name})
}

func stackGlobal(m *machine) error {
	values, err := m.take(2)
	if err != nil {
		return err
	}
	module, ok1 := values[0].(string)
	name, ok2 := values[1].(string)
	if !ok1 || !ok2 {
		return fmt.Errorf("a name made of %s and %s", Describe(values[0]), Describe(values[1]))
	}
	return m.pushObject(Global{module, name})
}

func binPersID(m *machine) error {
	id, err := m.pop()
	if err != nil {
		return err
	}
	if m.Persistent == nil {
		return fmt.Errorf("an object outside the pickle")
	}
	v, err := m.Persistent(id)
	if err != nil {
		return err
	}
	return m.pushObject(v)
}

// reduce records the application of a class or function to a tuple of arguments.
func reduce(m *machine) error {
	values, err := m.take(2)
	if err != nil {
		return err
	}
	return m.pushCall(values[0], values[1])
}

func newObjEx(m *machine) error { // keyword arguments are of no interest
	values, err := m.take(3)
	if err != nil {
		return err
	}
	return m.pushCall(values[0], values[1])
}

func (m *machine) pushCall(callee, args any) error {
	tuple, ok := args.(Tuple)
	if !ok {
		return fmt.Errorf("the arguments are %s, want a tuple", Describe(args))
	}
	return m.pushObject(&Call{Func: callee, Args: tuple})
}

// build records the state of an object. Plain containers have no state, but a subclass of
// dict that is pickled as its base may be given one.
func build(m *machine) error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	v, err := m.top()
	if err != nil {
		return err
	}
	call, ok := v.(*Call)
	if !ok {
		return fmt.Errorf("setting the state of %s", Describe(v))
	}
	call.State = append(call.State, state)
	return m.charge(costSlot)
}
