// The process: what it says of itself, its greeting, and its end.
import { Device } from './device.mjs';
import { serve } from './grpc.mjs';
import { Schema } from './proto.mjs';
import { Session } from './session.mjs';

const schema = new Schema(new URL('../../../../device/proto/device/v1/device.proto', import.meta.url));
const device = new Device(schema);
if (process.argv[2] === 'describe') {
  console.log(JSON.stringify({ ...device.Describe(), protocol: 1 }));
  process.exit(0);
}
if (process.env.BNCTL_DEVICE_PLUGIN !== 'd5f3a1c07b9e4e27') {
  console.error('This is the device plugin "node" of bnctl; bnctl starts it.');
  process.exit(1);
}
process.on('SIGINT', () => {}); // Ctrl-C reaches the whole process group
process.stdin.on('end', () => process.exit(0)).resume(); // bnctl is gone
console.log = console.error; // nobody reads standard output but for the greeting

// What other services answer: Check that it is SERVING, Shutdown nothing (the end of standard input follows).
const OTHERS = { 'grpc.health.v1.Health': [8, 1], 'plugin.GRPCController': [] };
const socket = `${process.env.PLUGIN_UNIX_SOCKET_DIR}/node`;
serve(socket, async (service, method, messages, send) => {
  if (method === 'Session') return new Session(schema, device, messages, send).serve();
  if (OTHERS[service]) return send(Buffer.from(OTHERS[service]));
  const { request, reply } = schema.methods[method];
  const bytes = (await messages.next()).value;
  return send(schema.encode(reply, device[method](schema.decode(request, bytes))));
}, () => process.stdout.write(`1|1|unix|${socket}|grpc|\n`));
