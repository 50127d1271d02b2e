// gRPC over HTTP/2: a message is a byte 0, its length in four bytes, big endian, and the message;
// the status comes in trailers.
'use strict';
const http2 = require('http2');

// serve listens at a unix socket and calls ready. on.unary answers one message by one; on.stream gets
// receive, which returns the next message or null at the end, and send.
function serve(socket, on, ready) {
  const window = 8 << 20;
  const server = http2.createServer({ settings: { initialWindowSize: window, maxFrameSize: 1 << 20 } });
  server.on('session', (session) => session.setLocalWindowSize(window));
  server.on('stream', (stream, headers) => {
    const name = headers[':path'].replace(/^\//, '');
    stream.on('error', () => {}); // the other side is gone
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    let status = { 'grpc-status': '0' };
    stream.on('wantTrailers', () => stream.sendTrailers(status));
    const receive = messages(stream);
    const run = name.endsWith('/Session')
      ? on.stream(receive, (b) => send(stream, b))
      : receive().then((b) => send(stream, on.unary(name, b)));
    run
      .catch((e) => {
        console.error(e.stack);
        status = { 'grpc-status': '13', 'grpc-message': encodeURIComponent(e.message) };
      })
      .finally(() => stream.end());
  });
  server.listen(socket, ready);
}

// send resolves when more may be sent.
function send(stream, message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return stream.write(Buffer.concat([head, message]))
    ? Promise.resolve()
    : new Promise((go) => {
        stream.once('drain', go);
        stream.once('close', go);
      });
}

// messages returns a function that resolves to the next message of a stream, and to null at its end.
function messages(stream) {
  let pieces = [];
  let length = 0;
  let ended = false;
  let wake = () => {};
  stream.on('data', (b) => {
    pieces.push(b);
    length += b.length;
    wake();
  });
  const end = () => {
    ended = true;
    wake();
  };
  stream.on('end', end).on('close', end).on('aborted', end);
  const have = () => {
    if (pieces.length > 1 && length >= 5) pieces = [Buffer.concat(pieces)];
    return length >= 5 && length >= 5 + pieces[0].readUInt32BE(1);
  };
  return async () => {
    while (!have()) {
      if (ended) return null;
      await new Promise((go) => (wake = go));
    }
    const size = 5 + pieces[0].readUInt32BE(1);
    const message = pieces[0].subarray(5, size);
    pieces = [pieces[0].subarray(size)];
    length -= size;
    return message;
  };
}

module.exports = { serve };
