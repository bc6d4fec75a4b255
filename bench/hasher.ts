// A program that hashes a password for each request, as Creel does and behind everything else on the machine: what sign-ins cost without Creel.
import { createServer } from 'node:http';
import { constants, setPriority } from 'node:os';
import { Passwords } from '../packages/server/src/accounts/passwords.ts';

setPriority(constants.priority.PRIORITY_LOW);

const passwords = new Passwords();
const server = createServer((request, response) => {
  request.resume();
  if (request.method !== 'POST') return void response.end();
  void passwords.hash('bench-password').finally(() => response.end());
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
