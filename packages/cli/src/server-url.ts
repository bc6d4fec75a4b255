import { UsageProblem } from './cli-problem.ts';
import type { Terminal } from './terminal.ts';

/** The server that was asked for: `--server`, else `CREEL_URL`. @throws UsageProblem when it is none */
export function chosenServer(option: string | undefined, env: Terminal['env']): string | undefined {
  if (option !== undefined) return serverOrigin(option, '--server');
  const variable = env['CREEL_URL'];
  return variable === undefined || variable === '' ? undefined : serverOrigin(variable, 'CREEL_URL');
}

/** An origin: pages and calls lie at a server's root, so that a path would lead nowhere. */
export function serverOrigin(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new UsageProblem(`${what} must be an http or https URL without a path, such as https://hooks.example.com.`);
  return url.origin;
}
