import { connect, isIP } from 'node:net';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProblemError } from '../../http/problem.ts';
import { isAllowed } from './target-address.ts';
import type { Target } from './target.ts';

/**
 * Connects to one of the checked addresses only: no second lookup and no proxy of the environment. TLS is verified
 * against the URL's host. If the socket ends up elsewhere, it is destroyed before any byte is written, including TLS's
 * own.
 */
export function openConnection(target: Target, addresses: readonly string[], allowPrivate: boolean): Socket {
  const options: TcpNetConnectOpts = {
    host: target.host,
    port: target.port,
    lookup: onlyThese(addresses),
    autoSelectFamily: true,
    noDelay: true,
  };
  const plain = connect(options);
  plain.once('connect', () => {
    const { remoteAddress } = plain;
    if (remoteAddress === undefined || !isAllowed(remoteAddress, allowPrivate))
      plain.destroy(new ProblemError('TARGET_NOT_ALLOWED'));
  });
  return target.isSecure ? secured(plain, target) : plain;
}

function secured(plain: Socket, { host }: Target): Socket {
  // A TLS server name must be a name (RFC 6066 3); an address is verified as an address.
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const secure = connectTls({ socket: plain, host, servername, ALPNProtocols: ['http/1.1'] });
  // Report the underlying failure.
  plain.once('error', (error) => secure.destroy(error));
  secure.once('close', () => plain.destroy());
  return secure;
}

function onlyThese(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, done) => {
    if (options.all === true) done(null, found);
    else done(null, found[0]?.address ?? '', found[0]?.family ?? 0);
  };
}
