// A live view in a process of its own, so that what it costs the server is measured and not what it costs itself.
import WebSocket from 'ws';

const [url = '', cookie = ''] = process.argv.slice(2);
let frames = 0;
let bytes = 0;
const socket = new WebSocket(url, { headers: { cookie }, perMessageDeflate: false });
socket.on('open', () => process.send?.({ open: true }));
socket.on('message', (data: Buffer) => {
  frames += 1;
  bytes += data.length;
});
socket.on('close', (code) => process.send?.({ closed: code }));
process.on('message', () => process.send?.({ frames, bytes }));
process.on('disconnect', () => process.exit(0));
