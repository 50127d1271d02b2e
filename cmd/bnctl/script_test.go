package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/serve"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary behave like bnctl, if a script calls it as bnctl or a host starts it as a
// plugin.
func TestMain(m *testing.M) {
	if fleet.Serve(os.Args) {
		return
	}
	testscript.Main(m, map[string]func(){"bnctl": mainOfStores, "stuck": stuck, "ailing": ailing,
		"fabric": func() { serve.FabricMain(nowhere{}) }})
}

// nowhere is the network of a fabric plugin, which can describe itself but never connects.
type nowhere struct{}

func (nowhere) Describe() device.Plugin {
	return device.Plugin{Name: "mine", Version: "3", About: "a network of my own"}
}

func (nowhere) Join(string, serve.Host) (serve.Endpoint, error) {
	return nil, errors.New("there is no network here")
}

// TestScripts runs the scripts in testdata/script, which have user input and expected output. Scripts can use
// the commands of testscript and scriptCommands. $DATA is the folder of shareddata, and the condition [data]
// states whether it exists. The condition [story] is isStory.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			data, _ := shareddata.Folder()
			e.Setenv("XDG_DATA_HOME", e.Getenv("WORK")+"/xdg")
			for name, dir := range map[string]string{"DATA": data, "KERAS": "../../formats/keras/testdata",
				"ONNX": "../../formats/onnx/testdata", "TORCH": "../../formats/torch/testdata",
				"CAFFE": "../../formats/caffe/testdata/cases", "SPEC": "../../spec",
				"TF": "../../formats/tensorflow/testdata/cases", "RECIPES": "../../testdata/trainrecipes"} {
				path, err := filepath.Abs(dir)
				if err != nil {
					return err
				}
				e.Setenv(name, path)
			}
			return nil
		},
		Condition: func(name string) (ok bool, err error) {
			switch name {
			case "data":
				_, ok = shareddata.Folder()
			case "story":
				ok = isStory()
			default:
				err = fmt.Errorf("unknown condition %s", name)
			}
			return ok, err
		},
		Cmds: scriptCommands,
	})
}

// isStory reports whether the demo and the tutorial are run, which train whole networks. make check-story
// sets BNCTL_STORY=full.
func isStory() bool { return os.Getenv("BNCTL_STORY") == "full" }

var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":   exits,
	"signal":  signalled,
	"lose":    lose,
	"flip":    flip,
	"shorten": shorten,
	"arrays":  arrays,
	"only":    only,
	"sicken":  sicken,
	"strand":  strand,
	"hold":    hold,
	"serving": serving,
	"request": request,
	"ends":    ends,
	"squares": squares,
	"numbers": numbersFile,
	"stores":  startStores,
	"upload":  upload,
	"shard":   shard,
	"publish": publish,
	"await":   await,
}

// exits implements the command "exits CODE PROGRAM ARGS...". It runs a program that must end with the exit
// code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := codeOf(ts, ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func codeOf(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if err == nil {
		return 0
	}
	return exit.ExitCode()
}

// signalled implements the command "signal SIGNAL CODE ARGS...". It runs bnctl, and sends it the signal after
// its first step. bnctl must end with the exit code. It has ten seconds for its checkpoint, and more on a
// busy machine.
func signalled(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // nohup makes tests ignore the signal, and bnctl would ignore it too
	defer signal.Stop(heard)
	var sent time.Time
	got := running(ts, args[2:], func(cmd *exec.Cmd, e runEvent) {
		if e.Event == "step" && sent.IsZero() {
			sent = time.Now()
			ts.Check(cmd.Process.Signal(signals[args[0]]))
		}
	})
	switch {
	case got != want:
		ts.Fatalf("exit code %d, want %d", got, want)
	case sent.IsZero():
		ts.Fatalf("there was no step")
	case time.Since(sent) > time.Minute:
		ts.Fatalf("it took %v to stop", time.Since(sent))
	}
}

// lose implements the command "lose DEVICE ARGS...". It runs bnctl, and kills the process of a device after
// the first step. The run must report this, and succeed.
func lose(ts *testscript.TestScript, _ bool, args []string) {
	process, killed, noticed := 0, false, false
	code := running(ts, args[1:], func(_ *exec.Cmd, e runEvent) {
		switch {
		case e.Event == "device" && e.Name == args[0]:
			process = e.Process
		case e.Event == "step" && !killed:
			killed = true
			p, err := os.FindProcess(process)
			ts.Check(err)
			ts.Check(p.Kill())
		case e.Event == "device_lost":
			noticed = e.Device == args[0]
		}
	})
	if code != 0 || !killed || !noticed {
		ts.Fatalf("exit code %d, killed %v, noticed %v", code, killed, noticed)
	}
}

// runEvent has those fields of the events of a run that tests read.
type runEvent struct {
	Event   string `json:"event"`
	Name    string `json:"name"`
	Process int    `json:"process"`
	Step    int    `json:"step"`
	Device  string `json:"device"`
}

// running runs bnctl with --json, calls see with each of its events, and returns its exit code. While see is
// running, bnctl can write at most about 45 events, because the pipe and the reader each have room for 4 KiB.
func running(ts *testscript.TestScript, args []string, see func(*exec.Cmd, runEvent)) int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	path, err := exec.LookPath("bnctl")
	ts.Check(err)
	cmd := exec.CommandContext(ctx, path, append(slices.Clone(args), "--json")...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), append(os.Environ(), storeEnvironment(ts)...)
	cmd.Stderr = ts.Stderr()
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(narrow(stdout.(*os.File)))
	ts.Check(cmd.Start())
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var e runEvent
		ts.Check(json.Unmarshal(lines.Bytes(), &e))
		see(cmd, e)
	}
	return codeOf(ts, cmd.Wait())
}

// flip implements the command "flip FILE OFFSET". It flips the lowest bit of a byte. A negative offset counts
// from the end of the file.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	b, err := os.ReadFile(name)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 1
	ts.Check(os.WriteFile(name, b, 0o666))
}

// shorten implements the command "shorten FILE BYTES". It removes the last bytes of a file.
func shorten(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	i, err := os.Stat(name)
	ts.Check(err)
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(name, i.Size()-n))
}

// arrays implements the command "arrays X Y N [i64|f64|chw]". It writes the first N glyphs and their labels
// as .npy files: the pictures as bytes [N,H,W,1], as the same numbers of type i64 or f64, or as [N,1,H,W].
func arrays(ts *testscript.TestScript, _ bool, args []string) {
	src, err := data.Open(context.Background(), "glyphs:"+args[2], data.Options{})
	ts.Check(err)
	n := src.Info().Len
	x := tensor.New(tensor.U8, append([]int{n}, src.Info().Shape...)...)
	y := tensor.New(tensor.I32, n)
	for i := range n {
		s, err := src.Sample(context.Background(), i)
		ts.Check(err)
		copy(x.Rows(i, i+1).Bytes, s.Bytes)
		label, err := src.Label(context.Background(), i)
		ts.Check(err)
		y.I32()[i] = label[0]
	}
	if len(args) > 3 {
		x = sameNumbers(x, args[3])
	}
	for k, t := range []tensor.Tensor{x, y} {
		f, err := os.Create(ts.MkAbs(args[k]))
		ts.Check(err)
		ts.Check(errors.Join(data.WriteNPY(f, t), f.Close()))
	}
}

func sameNumbers(x tensor.Tensor, as string) tensor.Tensor {
	switch as {
	case "chw": // with one channel the bytes are the same
		return x.Reshape(x.Shape[0], 1, x.Shape[1], x.Shape[2])
	case "i64":
		out := tensor.New(tensor.I64, x.Shape...)
		for i, v := range x.Bytes {
			out.I64()[i] = int64(v)
		}
		return out
	}
	out := tensor.New(tensor.F64, x.Shape...)
	for i, v := range x.Bytes {
		out.F64()[i] = float64(v)
	}
	return out
}

// only implements the command "only FILES...". It fails unless the folder of the script has exactly these
// files, the chains of these templates, and the files of the script itself. Hidden files count too.
func only(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.Getenv("WORK"))
	ts.Check(err)
	var have []string
	for _, e := range entries {
		template, chained := strings.CutSuffix(e.Name(), ".chain.jsonl")
		chained = chained && slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, template+".bn")
		})
		if e.Name() != ".tmp" && e.Name() != "xdg" && !chained {
			have = append(have, e.Name())
		}
	}
	slices.Sort(args)
	if !slices.Equal(have, args) {
		ts.Fatalf("the folder holds %s, want %s", strings.Join(have, " "), strings.Join(args, " "))
	}
}

// hold implements the command "hold FILE". It locks a file, like a program that is writing it.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	unlock, err := regular.Lock(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(unlock)
	ts.Setenv("HOLDER", strconv.Itoa(os.Getpid()))
}

// sicken implements the command "sicken FROM TO TENSOR". It writes a copy of a template with NaN in channel 3
// of a tensor.
func sicken(ts *testscript.TestScript, _ bool, args []string) {
	m, err := serialize.ReadModel(ts.MkAbs(args[0]))
	ts.Check(err)
	m.State[args[2]].F32()[3] = float32(math.NaN())
	_, err = serialize.WriteModel(ts.MkAbs(args[1]), m)
	ts.Check(err)
}
