import type { RawHeaders, SigningSecret } from '@creel/contract';
import { headerFinder, hmac, schemeOf } from './schemes.ts';

export interface UnsignedRequest {
  readonly headers: RawHeaders;
  /** The exact bytes that will be sent. */
  readonly body: Uint8Array;
  /** Milliseconds since 1970, for the timestamp. */
  readonly now: number;
}

/** Returns the headers with a new timestamp and signature. Other headers keep their order, case and repeats. */
export async function renewSignature(
  signing: SigningSecret,
  { headers, body, now }: UnsignedRequest,
): Promise<RawHeaders> {
  const scheme = schemeOf(signing);
  const key = scheme.toKey(signing.secret);
  const renewed = await scheme.renew({
    seconds: Math.floor(now / 1000),
    find: headerFinder(headers),
    sign: async (signedBefore, algorithm = 'sha256') =>
      (await hmac(algorithm, key, signedBefore, body)).toString(scheme.encoding),
  });
  return renewed.reduce<RawHeaders>(withHeader, headers);
}

/** Replaces the first header of this name and removes its repeats, or adds the header at the end. */
function withHeader(headers: RawHeaders, [name, value]: readonly [string, string]): RawHeaders {
  const isSame = ([given]: readonly [string, string]): boolean => given.toLowerCase() === name.toLowerCase();
  const first = headers.findIndex(isSame);
  if (first < 0) return [...headers, [name, value]];
  return headers.flatMap((header, at): RawHeaders => {
    if (at === first) return [[header[0], value]];
    return isSame(header) ? [] : [header];
  });
}
