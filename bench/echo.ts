// The baseline for captures: bare node:http that reads the body and responds with the same JSON.
import { createServer } from 'node:http';

const BODY = '{"ok":true}';

createServer((request, response) => {
  request.on('data', () => undefined);
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': BODY.length });
    response.end(BODY);
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
