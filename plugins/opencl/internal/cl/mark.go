package cl

import "time"

// Mark returns an event that follows all earlier commands.
func (q *Queue) Mark() (event uintptr, err error) {
	err = check("clEnqueueMarkerWithWaitList", q.a.marker(q.queue, 0, 0, &event))
	return event, err
}

// Times waits for events and returns the times between them: one time less than there are events. It
// releases the events.
func (q *Queue) Times(events []uintptr) (times []time.Duration, err error) {
	defer func() {
		for _, e := range events {
			q.a.releaseEvent(e)
		}
	}()
	const end = 0x1283
	var last uint64
	for i, e := range events {
		if err := check("clWaitForEvents", q.a.waitEvents(1, &e)); err != nil {
			return nil, err
		}
		var now uint64 // nanoseconds
		if err := check("clGetEventProfilingInfo", q.a.eventTime(e, end, 8, &now, 0)); err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, time.Duration(now-min(last, now)))
		}
		last = now
	}
	return times, nil
}
