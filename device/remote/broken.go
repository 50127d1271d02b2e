package remote

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// exitTimeoutBroken replaces exitTimeout if the plugin closed the connection during its
// start: on a busy machine the system needs a while to end a killed process.
const exitTimeoutBroken = 2 * time.Second

// exitTimeoutAfter returns the time to wait for the end of a process that failed to start
// with err.
func exitTimeoutAfter(err error) time.Duration {
	if status.Code(err) == codes.Unavailable {
		return exitTimeoutBroken
	}
	return exitTimeout
}

// connectionError is an error of gRPC with a text for users.
type connectionError struct{ error }

// plain returns an error of gRPC without its code. It returns other errors unchanged.
func plain(err error) error {
	if s, ok := status.FromError(err); !ok || s.Code() == codes.OK {
		return err
	}
	return connectionError{err}
}

// Error implements error.
func (e connectionError) Error() string {
	s := status.Convert(e.error)
	if s.Code() == codes.Unavailable {
		return "it closed its connection (" + s.Message() + ")"
	}
	return s.Message()
}

// Unwrap returns the error of gRPC.
func (e connectionError) Unwrap() error { return e.error }
