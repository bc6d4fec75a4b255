import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../fixtures/free-port.ts';
import { answersAt, startProgram } from '../../fixtures/start-program.ts';
import { requireProgram } from '../../scripts/system-program.ts';

/** How nginx connects to the server: with its defaults (HTTP/1.0, no keep-alive), or as its documentation recommends. */
const UPSTREAM = {
  default: '',
  'keep-alive': 'proxy_http_version 1.1; proxy_set_header Connection "";',
} as const;
export type NginxUpstream = keyof typeof UPSTREAM;

/** Starts an nginx that forwards to a port of this machine. @throws Error if it does not start */
export async function startNginx(upstreamPort: number, upstream: NginxUpstream) {
  const folder = await mkdtemp(join(tmpdir(), 'creel-nginx-'));
  const port = await freePort();
  await writeFile(join(folder, 'nginx.conf'), configuration(port, upstreamPort, upstream));
  const { pid, kill } = await startProgram(
    requireProgram('nginx'),
    ['-p', folder, '-c', 'nginx.conf', '-g', 'daemon off;'],
    {
      env: { PATH: process.env['PATH'] },
      isReady: answersAt(`http://127.0.0.1:${port}/nginx-ready`),
    },
  );
  return {
    port,
    pid,
    async stop() {
      await kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Buffers hold whole bodies, because the worker process may not be allowed to write into the folder. */
const configuration = (port: number, upstreamPort: number, upstream: NginxUpstream): string => `
pid nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_body_buffer_size 1m;
  upstream creel { server 127.0.0.1:${upstreamPort}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    # nginx responds itself, because Node's parser would keep the upstream connection of a forwarded call.
    location = /nginx-ready { return 204; }
    location / { proxy_pass http://creel; ${UPSTREAM[upstream]} }
  }
}
`;
