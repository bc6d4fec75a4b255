// A program on a user's machine: it checks Stripe's signature, writes the event's id to a file, and responds.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Stripe } from 'stripe';

const [port, log, secret] = process.argv.slice(2);
createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    try {
      const signature = request.headers['stripe-signature'];
      const { id } = Stripe.webhooks.constructEvent(Buffer.concat(pieces), signature, secret);
      appendFileSync(log, `${id}\n`);
      response.end('ok');
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
