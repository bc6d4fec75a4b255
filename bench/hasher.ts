// A program that hashes a password for each request, as Creel does beside captures: what sign-ins cost without Creel.
import { createServer } from 'node:http';
import { Passwords } from '../packages/server/src/features/accounts/passwords.ts';

const passwords = new Passwords();
const server = createServer((request, response) => {
  request.resume();
  if (request.method !== 'POST') return void response.end();
  void passwords.hash('bench-password', { owner: 'bench' }).finally(() => response.end());
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
