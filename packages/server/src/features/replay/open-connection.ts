import { connect, isIP } from 'node:net';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProblemError } from '../../http/problem.ts';
import { isAllowed } from './target-address.ts';
import type { Target } from './target.ts';

/**
 * A connection to one of the checked addresses and to nothing else: no name is looked up again, and no proxy of the environment is
 * asked. TLS is verified against the name in the URL. Should the socket end up elsewhere all the same, it is destroyed before a byte is
 * written, TLS's own included.
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
  // A server name is a name (RFC 6066 3); an address is verified as one.
  const servername = isIP(host) === 0 ? host.replace(/\.$/, '') : '';
  const secure = connectTls({ socket: plain, host, servername, ALPNProtocols: ['http/1.1'] });
  // What went wrong below is what there is to tell.
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
