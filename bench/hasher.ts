// A program that hashes one password per request, one after the other, behind everything else on the machine: what sign-ins cost without Creel.
import { argon2, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { constants, setPriority } from 'node:os';

setPriority(constants.priority.PRIORITY_LOW);

/** As OWASP's minimum for Argon2id, like Creel's own. */
const PARAMETERS = { parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 };

function hash(): Promise<void> {
  return new Promise((resolve, reject) => {
    argon2('argon2id', { ...PARAMETERS, message: 'bench-password', nonce: randomBytes(16) }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

let last = Promise.resolve();
const server = createServer((request, response) => {
  request.resume();
  if (request.method !== 'POST') return void response.end();
  last = last.then(hash).finally(() => response.end());
});
server.listen(Number(process.env['PORT']), '127.0.0.1');
