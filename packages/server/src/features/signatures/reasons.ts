/**
 * Why a signature is missing or invalid, in sentences for the user. The tests make each of them from a real mistake,
 * and fail if one is never given.
 */
export const REASONS = {
  missingHeader: (header: string) => `The request has no ${header} header.`,
  otherScheme: (sender: string) => `It seems to be signed as ${sender} signs.`,
  otherHeader: (header: string) => `It seems to be signed with HMAC-SHA256 in the header ${header}.`,
  unreadableHeader: (header: string, expected: string) =>
    `The ${header} header can't be read. It should look like “${expected}”.`,
  missingPrefix: (header: string, prefix: string) => `The ${header} header does not begin with the prefix “${prefix}”.`,
  repeatedHeader: (header: string, which: 'first' | 'last') =>
    `The request has several ${header} headers, and receivers join them. The ${which} one alone matches. Send only this one.`,
  tooOld: (age: string) =>
    `The signature matches, but its timestamp is ${age} older than the capture. Receivers accept at most 5 minutes.`,
  tooNew: (lead: string) =>
    `The signature matches, but its timestamp is ${lead} after the capture. Check the clock of the sender: receivers accept at most 5 minutes.`,
  inMilliseconds: () =>
    'The signature matches, but its timestamp is in milliseconds. Receivers read it as seconds, so it is far in the future.',
  otherEncoding: (found: string, expected: string) =>
    `The signature is in ${found}, but it is read as ${expected}. Set the encoding to ${found}.`,
  otherEncodingOf: (found: string, expected: string, sender: string) =>
    `The signature is in ${found}, but it is read as ${expected}. ${sender} sends ${expected}.`,
  otherSpelling: (sender: string, expected: string) =>
    `The signature is right, but it is not written as ${sender} writes it: expected “${expected}”.`,
  hexInBase64: () =>
    'The signature is the base64 of hex digits. Encode the bytes of the digest once, without hex digits in between.',
  otherHash: (hash: string) => `The signature is made with HMAC-${hash}. It must be made with HMAC-SHA256.`,
  otherContent: (signed: string, expected: string) =>
    `${signed} was signed. It must be “${expected}” and then the body.`,
  unsetPrefix: (prefix: string) => `The signature begins with “${prefix}”. Set the prefix to “${prefix}”.`,
  secretWithSpace: (where: 'beginning' | 'end') =>
    `The secret has a space or a line break at its ${where}. Without it the signature matches.`,
  secretOfSenderWithLineBreak: () =>
    'The sender signs with the secret and a line break after it. Remove the line break at the sender.',
  secretInQuotes: () => 'The secret is in quotation marks. Without them the signature matches.',
  secretWithoutPrefix: (prefix: string) => `The secret lacks its beginning “${prefix}”. With it the signature matches.`,
  secretWithPrefix: (prefix: string) =>
    `The secret begins with “${prefix}”, which does not belong to it. Without it the signature matches.`,
  secretReadAs: (sender: string, here: string) =>
    `The sender reads the secret as ${sender}, but here it is read as ${here}. Both must use the same key.`,
  changedBody: (layout: string) =>
    `The body was changed after signing: as ${layout} it matches the signature. Sign exactly the bytes that are sent.`,
  apiKey: () =>
    'The signature does not match. The secret is an API key. Enter the signing secret of the webhook endpoint, which begins with “whsec_”.',
  accessToken: (sender: string) =>
    `The signature does not match. The secret is an access token of ${sender}. Enter the secret that ${sender} signs webhooks with.`,
  shopifySecrets: () =>
    'The signature does not match. Check the secret: Shopify signs the webhooks of an app with the client secret of the app, and those of the admin with the secret under Settings, Notifications, Webhooks.',
  otherMode: (mode: 'live' | 'test') =>
    `The signature does not match. The event is from ${mode} mode. Check that the secret is the one of the ${mode} mode: Stripe has a secret for each mode and each webhook endpoint.`,
  unexplained: () =>
    'The signature does not match. Either the secret is not the one that the sender signs with, or the body was changed after signing.',
} as const;
