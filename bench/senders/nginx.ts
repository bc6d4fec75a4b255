import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../fixtures/free-port.ts';

const START_MS = 10_000;

/** How nginx connects to the server: with its defaults (HTTP/1.0, no keep-alive), or as its documentation recommends. */
const UPSTREAM = {
  default: '',
  'keep-alive': 'proxy_http_version 1.1; proxy_set_header Connection "";',
} as const;
export type NginxUpstream = keyof typeof UPSTREAM;

export interface Nginx {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Starts an nginx that forwards to a port of this machine. @throws Error if it does not start */
export async function startNginx(upstreamPort: number, upstream: NginxUpstream): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'creel-nginx-'));
  const port = await freePort();
  await writeFile(join(folder, 'nginx.conf'), configuration(port, upstreamPort, upstream));
  const child = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-g', 'daemon off;'], { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + START_MS;
  while (!(await fetch(`http://127.0.0.1:${port}/nginx-ready`).catch(() => undefined))?.ok) {
    if (Date.now() > deadline) {
      await stop();
      throw new Error('nginx did not start.');
    }
    await sleep(50);
  }
  return { port, pid: child.pid ?? 0, stop };
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
