// A live view in a separate process, so that its own processor time does not count.
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
