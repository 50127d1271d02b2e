package remote

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/shm"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/internal/awake"
	"github.com/bnctl/bnctl/problem"
)

// open opens a device and its session in the process p, which has no device yet. After an
// error the process cannot be used any more.
//
// The levels are settled here. The host offers shared memory if it could create it and may
// use it. The plugin maps it and answers level shm/1, or answers stream/1 with a note that
// explains why. A plugin written without the SDK ignores the offer and answers stream/1.
func open(ctx context.Context, p *peer, name, id string, o device.Options) (*remoteDevice, error) {
	in := &pb.OpenRequest{
		Id: id, Threads: int32(o.Threads), Kernels: o.Kernels, Precision: o.Precision, Segment: p.offer(),
		Beside: true, Turns: true,
	}
	title := name
	if title == "" {
		title = "plugin " + p.command.Name
	}
	limit := p.command.opening()
	within, cancel := awake.WithTimeout(ctx, limit)
	defer cancel()
	out, err := p.rpc.Open(within, in)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, device.Errorf(title, "Open", device.Canceled, "%w", context.Cause(ctx))
	case within.Err() != nil:
		return nil, device.Errorf(title, "Open", device.Unavailable, "%w", problem.Advise(
			"try again when the machine has less to do: the first time a device may have to compile its kernels",
			"it did not open within %v", limit))
	default:
		return nil, p.broken(title, "Open", err)
	}
	if out.Error != nil {
		return nil, wire.DecodeError(title, "Open", out.Error)
	}
	d := &remoteDevice{info: wire.DecodeInfo(out.GetInfo())}
	if name != "" {
		d.info.Name = name
	}
	if n := len(d.info.Name + d.info.ID + d.info.Description + d.info.Kernels +
		strings.Join(d.info.Classes, "")); n > maxInfo {
		return nil, p.broken(title, "Open", fmt.Errorf("it describes its device with %d bytes, want at most %d", n,
			maxInfo))
	}
	if err := d.info.CheckPrecision(o.Precision); err != nil { // the plugin has ignored the precision
		return nil, err
	}
	d.info.Levels = p.levels(out.GetLevel(), d.info.Levels)
	d.info.Note, d.info.Process = p.noteOn(out), p.process.number()
	if d.session, err = p.session(d.info.Name, out); err != nil {
		return nil, p.broken(d.info.Name, "Open", err)
	}
	d.session.fileParts, d.session.pipelinesWrites = out.GetParts(), out.GetAhead()
	d.session.turns = out.GetTurns() && d.session.host == nil
	if d.session.pipelinesWrites {
		d.info.Features = append(d.info.Features, device.Ahead)
	}
	d.session.threads(max(1, d.info.Threads))
	return d, nil
}

// offer reserves the shared memory and returns the message that offers it, or nil if there is no shared
// memory. Without the reservation, a process would end with a fault if the machine runs out of memory.
func (p *peer) offer() *pb.Segment {
	if p.segment == nil {
		return nil
	}
	if err := shm.Reserve(p.segment, shm.Bytes); err != nil {
		p.noShm = err.Error()
		return nil
	}
	return &pb.Segment{File: segmentFile, Bytes: shm.Bytes, Bell: bellFile}
}

// levels returns the levels (transports) of the session. The first is the level of the session itself.
// The others are the device's levels for exchanges with other devices, as far as the user permits them.
func (p *peer) levels(granted string, can []string) []string {
	out := []string{granted}
	for _, l := range can {
		if p.command.allows(l) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// noteOn explains why the session does not run at the best level (transport) that the user allows.
func (p *peer) noteOn(out *pb.OpenReply) string {
	switch {
	case out.GetLevel() != device.Stream:
		return ""
	case p.noShm != "":
		return p.noShm
	}
	return out.GetNote()
}

// session begins the session of the device that was opened. Its two watchers end with it: one waits
// for the process, the other for the end of the stream; close waits for both.
func (p *peer) session(name string, opened *pb.OpenReply) (*session, error) {
	life, end := context.WithCancel(context.Background())
	stream, err := p.rpc.Session(life)
	if err != nil {
		end()
		return nil, err
	}
	conn, host, err := p.connection(stream, opened, end)
	if err != nil {
		end()
		return nil, err
	}
	s := &session{peer: p, name: name, conn: conn, host: host, life: life, end: end}
	s.watchers.Go(s.watchProcess)
	if host != nil {
		s.watchers.Go(func() { s.watchStream(stream) })
	}
	return s, nil
}

// connection returns the connection for the session's messages: the gRPC stream, or the
// rings of the segment. host is nil except at level shm/1. A plugin that answers without
// rings (from an earlier SDK) does not ring the bell, and the host sleeps on a futex.
func (p *peer) connection(stream grpc.BidiStreamingClient[pb.Message, pb.Message], opened *pb.OpenReply,
	end func()) (wire.Conn, *shm.Conn, error) {
	if opened.GetLevel() != device.Shm || p.segment == nil {
		return wire.NewStream(stream, end), nil, nil
	}
	b, err := shm.Map(p.segment, shm.Bytes)
	if err != nil {
		return nil, nil, err
	}
	var bell *os.File
	if opened.GetRings() {
		bell, p.bell[0] = p.bell[0], nil // the connection owns the bell from now on
	}
	host, err := shm.Host(b, bell)
	if err != nil {
		return nil, nil, err
	}
	return wire.NewPipe(host), host, nil
}
