import { connect, isIP } from 'node:net';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProblemError } from '../problem.ts';
import { isAllowed } from './target-address.ts';
import type { Target } from './target.ts';

/**
 * A connection to one of the checked addresses and to nothing else: no name is looked up again, and no proxy of the environment is
 * asked. TLS is verified against the name in the URL. Should the socket end up elsewhere all the same, it is destroyed before a byte is
 * written.
 */
export function openConnection(target: Target, addresses: readonly string[], allowPrivate: boolean): Socket {
  const options: TcpNetConnectOpts = {
    host: target.host,
    port: target.port,
    lookup: onlyThese(addresses),
    autoSelectFamily: true,
    noDelay: true,
  };
  const socket = target.isSecure
    ? connectTls({
        ...options,
        // A server name is a name (RFC 6066 3); an address is verified as one.
        servername: isIP(target.host) === 0 ? target.host.replace(/\.$/, '') : '',
        ALPNProtocols: ['http/1.1'],
      })
    : connect(options);
  socket.once('connect', () => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || !isAllowed(remoteAddress, allowPrivate))
      socket.destroy(new ProblemError('TARGET_NOT_ALLOWED'));
  });
  return socket;
}

function onlyThese(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, done) => {
    if (options.all === true) done(null, found);
    else done(null, found[0]?.address ?? '', found[0]?.family ?? 0);
  };
}
