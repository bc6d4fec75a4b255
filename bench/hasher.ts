// A program that hashes a password for each request, as Creel does beside captures: what sign-ins cost without Creel.
import { createServer } from 'node:http';
import { HashThreads } from '../packages/server/src/accounts/hash-threads.ts';
import { Passwords } from '../packages/server/src/accounts/passwords.ts';

const { derive } = new HashThreads();
let looks = 0;
const passwords = new Passwords({ derive, captures: () => (looks += 1) });
const server = createServer((request, response) => {
  request.resume();
  if (request.method !== 'POST') return void response.end();
  void passwords.hash('bench-password', 'bench').finally(() => response.end());
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
