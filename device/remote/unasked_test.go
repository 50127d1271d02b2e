package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/tensor"
)

// unaskedKey is the variable that names the unexpected action of a plugin without the SDK.
const unaskedKey = "BNCTL_TEST_UNASKED"

// session is the stream of a session, on the side of a plugin.
type session = grpc.BidiStreamingServer[pb.Message, pb.Message]

// unasked lists ways in which a plugin replaces its answer, each with the text that the error must
// contain.
var unasked = map[string]struct {
	answer func(s session, call *pb.Message, answer *pb.Message) error
	says   string
}{
	"nothing else": {answer: func(s session, _, answer *pb.Message) error { return s.Send(answer) }},
	"twice": {func(s session, _, answer *pb.Message) error {
		_ = s.Send(answer)
		return s.Send(answer)
	}, "Loaded belongs to call 1, this is 2"},
	"another call": {func(s session, call, answer *pb.Message) error {
		if call.GetWrite() != nil {
			answer.Call++
		}
		return s.Send(answer)
	}, "Done belongs to call 3, this is 2"},
	"the call before": {func(s session, call, answer *pb.Message) error {
		if call.GetWrite() != nil {
			answer.Call--
		}
		return s.Send(answer)
	}, "Done belongs to call 1, this is 2"},
	"the answer of another kind of call": {func(s session, call, answer *pb.Message) error {
		if call.GetWrite() != nil {
			answer.Body = &pb.Message_Loaded{Loaded: &pb.Loaded{}}
		}
		return s.Send(answer)
	}, "it answers with Loaded"},
	"without a body": {func(s session, call, answer *pb.Message) error {
		if call.GetWrite() != nil {
			answer.Body = nil
		}
		return s.Send(answer)
	}, "it answers with a message without a body"},
	"a call of its own": {func(s session, call, answer *pb.Message) error {
		if call.GetWrite() != nil {
			answer.Body = call.Body
		}
		return s.Send(answer)
	}, "it answers with Write"},
	"an exchange outside of a run": {func(s session, call, answer *pb.Message) error {
		if call.GetWrite() != nil {
			answer.Body = &pb.Message_Exchange{Exchange: &pb.Exchange{}}
		}
		return s.Send(answer)
	}, "exchanges although it has no group"},
	"an Outcome without tensors": {func(s session, call, answer *pb.Message) error { return s.Send(answer) },
		"Outcome has no error and comes with 0 tensors, want [f32[2,2] f64[1,5] f64[5]]"},
	"a stream without an end": {func(s session, call, answer *pb.Message) error {
		for call.GetWrite() != nil {
			if err := s.Send(&pb.Message{Call: call.Call, Data: make([]byte, 1<<20)}); err != nil {
				return err
			}
		}
		return s.Send(answer)
	}, "bytes"},
}

// rude is a plugin in plain gRPC. Its device computes nothing and sends arbitrary answers.
type rude struct{ pb.UnimplementedDeviceServer }

func serveRude() {
	path := os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/rude"
	l, err := net.Listen("unix", path)
	if err != nil {
		panic(err)
	}
	s := grpc.NewServer()
	pb.RegisterDeviceServer(s, rude{})
	fmt.Printf("1|1|unix|%s|grpc|\n", path)
	panic(s.Serve(l))
}

func (rude) Describe(context.Context, *pb.DescribeRequest) (*pb.PluginInfo, error) {
	return &pb.PluginInfo{Name: "rude"}, nil
}

func (rude) Open(context.Context, *pb.OpenRequest) (*pb.OpenReply, error) {
	return &pb.OpenReply{Level: device.Stream, Info: &pb.DeviceInfo{Id: "0", Name: "rude"}}, nil
}

func (rude) Session(s session) error {
	answer := unasked[os.Getenv(unaskedKey)].answer
	for {
		m, err := s.Recv()
		if err != nil {
			return err
		}
		a := &pb.Message{Call: m.Call}
		switch {
		case m.Body == nil: // a further chunk of a tensor
			continue
		case m.GetLoad() != nil:
			a.Body = &pb.Message_Loaded{Loaded: &pb.Loaded{Executable: 1}}
		case m.GetRun() != nil:
			a.Body = &pb.Message_Outcome{Outcome: &pb.Outcome{}}
		default:
			a.Body = &pb.Message_Done{Done: &pb.Done{}}
		}
		if err := answer(s, m, a); err != nil {
			return err
		}
	}
}

// TestAnswersThatNobodyAskedFor checks that a plugin that sends an unexpected message is lost. The
// call in progress fails, and the error names the message.
func TestAnswersThatNobodyAskedFor(t *testing.T) {
	for how, want := range unasked {
		t.Setenv(unaskedKey, how)
		d := open(t, start(t, "rude", device.Stream))
		x := load(t, d, regression(t))
		err := x.Write(t.Context(), "w", tensor.New(tensor.F32, 2, 3))
		if err == nil && strings.Contains(how, "Outcome") {
			_, err = x.Run(t.Context(), step(1, 2))
		}
		if want.says == "" {
			if err != nil {
				t.Errorf("%s: %v", how, err)
			}
			continue
		}
		if !errors.Is(err, device.Lost) || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v, want a lost device and %q", how, err, want.says)
		}
		if err := x.Write(t.Context(), "w", tensor.New(tensor.F32, 2, 3)); !errors.Is(err, device.Lost) {
			t.Errorf("%s: a Write to a device that is lost: %v", how, err)
		}
	}
}

// fickle is a provider that describes itself in another way in every process.
type fickle struct{ ref.Provider }

func (fickle) Describe() device.Plugin {
	return device.Plugin{Name: "fickle", Version: "1", About: fmt.Sprint("process ", os.Getpid())}
}

// wordy is a provider with a description that is too long to show.
type wordy struct{ ref.Provider }

func (wordy) Describe() device.Plugin {
	return device.Plugin{Name: "wordy", Version: "1", About: strings.Repeat("a", 5000)}
}

// TestAPluginThatDescribesItselfAnew checks that Open returns an error if the plugin describes itself
// differently than at its first start.
func TestAPluginThatDescribesItselfAnew(t *testing.T) {
	p := start(t, "fickle")
	open(t, p) // uses the first process
	_, err := p.Open(t.Context(), device.DefaultID, device.Options{})
	want := []string{"plugin fickle: start: unavailable", `it describes itself as "fickle", version "1": "process `,
		`when it was first started, as "fickle", version "1": "` + p.Describe().About}
	for _, w := range want {
		if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), w) {
			t.Errorf("%v, want an unavailable plugin and %q", err, w)
		}
	}
}
