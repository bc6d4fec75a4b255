import { firstHeader } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { bodyQuery } from '../../api/body-queries.ts';
import { bodyBytes, textOf } from '../../bodies/body-bytes.ts';
import { codingsOf } from '../../bodies/decode-body.ts';
import { capturedText } from './replay-form.ts';
import type { CapturedText } from './replay-form.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { BEGINNING_BYTES } from '../../bodies/view-body.ts';

/** Bytes of a text that is edited at most: a text area with more would hold up the page. */
const EDITED_BYTES = 2 * 1024 * 1024;

export interface CapturedBody {
  /** Its text as far as it is one and at hand. */
  readonly text: CapturedText | undefined;
  /** `asleep`: text, as far as is known, that is loaded when it is asked for. */
  readonly state: 'none' | 'text' | 'loading' | 'asleep' | 'binary' | 'large' | 'failed';
  /** The content codings that it came with. */
  readonly coding: string;
  readonly load: () => void;
}

/** The captured body for the text area: the whole of a text, at once up to 256 KiB, and when asked for beyond. */
export function useCapturedBody(uid: string, request: ListedRequest): CapturedBody {
  const [isAsked, ask] = useState(false);
  const { size, body, bodyEncoding, bodyTruncated } = request;
  const atHand = useMemo(
    () => (bodyTruncated ? undefined : bodyBytes(body, bodyEncoding)),
    [body, bodyEncoding, bodyTruncated],
  );
  // Of a longer body the list has the beginning, in base64 where that is no text already.
  const isKnownBinary = bodyEncoding === 'base64';
  const isLarge = size > EDITED_BYTES;
  const isWanted = !isKnownBinary && !isLarge && (isAsked || size <= BEGINNING_BYTES);
  const { data, isError } = useQuery({
    ...bodyQuery(uid, request, 'whole'),
    enabled: size > 0 && atHand === undefined && isWanted,
  });
  const bytes = atHand ?? data;
  const text = useMemo(() => (bytes === undefined ? undefined : editable(bytes)), [bytes]);
  const coding = codingsOf(firstHeader(request.rawHeaders, 'content-encoding')).join(', ');
  const load = (): void => ask(true);
  const state = (): CapturedBody['state'] => {
    if (size === 0) return 'none';
    if (isKnownBinary) return 'binary';
    if (isLarge) return 'large';
    if (bytes !== undefined) return text === undefined ? 'binary' : 'text';
    if (isError) return 'failed';
    return isWanted ? 'loading' : 'asleep';
  };
  return { text: size === 0 ? capturedText('') : text, state: state(), coding, load };
}

/** A text that stands in a text area without loss but for its line ends; a NUL does not. */
function editable(bytes: Uint8Array): CapturedText | undefined {
  const text = textOf(bytes);
  return text === undefined || text.includes('\0') ? undefined : capturedText(text);
}
