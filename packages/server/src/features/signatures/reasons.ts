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
  tooOld: (age: string) =>
    `The signature matches, but its timestamp is ${age} older than the capture. Receivers accept at most 5 minutes.`,
  tooNew: (lead: string) =>
    `The signature matches, but its timestamp is ${lead} after the capture. Check the clock of the sender: receivers accept at most 5 minutes.`,
  otherEncoding: (found: string, expected: string) =>
    `The signature is in ${found}, but it is read as ${expected}. Set the encoding to ${found}.`,
  otherEncodingOf: (found: string, expected: string, sender: string) =>
    `The signature is in ${found}, but it is read as ${expected}. ${sender} sends ${expected}.`,
  otherSpelling: (sender: string, expected: string) =>
    `The signature is right, but it is not written as ${sender} writes it: expected “${expected}”.`,
  unsetPrefix: (prefix: string) => `The signature begins with “${prefix}”. Set the prefix to “${prefix}”.`,
  secretWithSpace: (where: 'beginning' | 'end') =>
    `The secret has a space or a line break at its ${where}. Without it the signature matches.`,
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
  otherMode: (mode: 'live' | 'test') =>
    `The signature does not match. The event is from ${mode} mode. Check that the secret is the one of the ${mode} mode: Stripe has a secret for each mode and each webhook endpoint.`,
  unexplained: () =>
    'The signature does not match. Either the secret is not the one that the sender signs with, or the body was changed after signing.',
} as const;
