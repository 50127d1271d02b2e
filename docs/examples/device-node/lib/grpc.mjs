// gRPC over HTTP/2: a message is a byte 0, its length in four bytes, big endian, and its bytes; the status
// comes in trailers.
import http2 from 'node:http2';

// serve listens at a unix socket, calls ready, and answers each call by handle(service, method, messages,
// send): messages.next() is the next message of bnctl, send(bytes) answers with one.
export function serve(socket, handle, ready) {
  const window = 8 << 20; // bytes that bnctl may send before it has to wait
  const server = http2.createServer({ settings: { initialWindowSize: window } });
  server.on('session', (session) => session.setLocalWindowSize(window));
  server.on('stream', (stream, headers) => {
    const [, service, method] = headers[':path'].split('/');
    let status = 0;
    stream.on('error', () => {}); // the other side is gone
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status }));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    const send = (bytes) => {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(bytes.length, 1);
      stream.write(Buffer.concat([head, bytes]));
    };
    handle(service, method, messages(stream), send).catch((e) => {
      console.error(e.stack);
      status = 13;
    }).finally(() => stream.end());
  });
  server.listen(socket, ready);
}

// messages yields the messages of a stream.
async function* messages(stream) {
  let b = Buffer.alloc(0);
  for await (const piece of stream) {
    b = Buffer.concat([b, piece]);
    for (let end; b.length >= 5 && b.length >= (end = 5 + b.readUInt32BE(1)); b = b.subarray(end)) {
      yield b.subarray(5, end);
    }
  }
}
