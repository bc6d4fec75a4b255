import { createSign, generateKeyPairSync } from 'node:crypto';

type Bytes = Uint8Array;

function der(tag: number, ...parts: readonly Bytes[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Bytes[]): Buffer => der(0x30, ...parts);
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = oid(0x55, 0x04, 0x03);
const ALT_NAME = oid(0x55, 0x1d, 0x11);
const DAY_MS = 24 * 3_600_000;

const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replaceAll(/\D/g, '')}Z`));

/**
 * A self-signed certificate for one IPv4 address, valid for `days` days, starting `fromDays` days from now.
 * It is encoded as DER here (RFC 5280 4.1) because Node has no API for it.
 */
export function selfSigned(address: string, { fromDays = -1, days = 10 } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from('creel test')))));
  const from = Date.now() + fromDays * DAY_MS;
  const altName = sequence(der(0x87, Buffer.from(address.split('.').map(Number))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    name,
    sequence(time(from), time(from + days * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(ALT_NAME, der(0x04, altName)))),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const cert = sequence(body, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = cert.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
