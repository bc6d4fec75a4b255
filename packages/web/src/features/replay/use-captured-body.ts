import { bodyBytesOf, firstHeader, codingNamesOf } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { bodyQuery } from '../../api/body-queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { textOf } from '../../bodies/encoding.ts';
import { BEGINNING_BYTES } from '../../bodies/view-body.ts';
import { capturedText } from './replay-form.ts';
import type { CapturedText } from './replay-form.ts';

/** Maximum of bytes of a text that can be edited. A longer one would freeze the text area. */
const MAX_EDITABLE_BYTES = 2 * 1024 * 1024;

export interface CapturedBody {
  /** The text, if the body is text and loaded. */
  readonly text: CapturedText | undefined;
  /** `not-loaded`: probably text; loaded on request. */
  readonly state: 'none' | 'text' | 'loading' | 'not-loaded' | 'binary' | 'large' | 'failed';
  /** The content codings of the captured body. */
  readonly coding: string;
  readonly load: () => void;
}

/** The captured body for the editor. Text of up to 256 KiB is loaded at once, longer text on request. */
export function useCapturedBody(uid: string, request: ListedRequest): CapturedBody {
  const [isAsked, ask] = useState(false);
  const { size, body, bodyEncoding, bodyTruncated } = request;
  const preview = useMemo(
    () => (bodyTruncated ? undefined : bodyBytesOf({ body, bodyEncoding })),
    [body, bodyEncoding, bodyTruncated],
  );
  // The list has the first part of a longer body, in base64 if it is not text.
  const isKnownBinary = bodyEncoding === 'base64';
  const isLarge = size > MAX_EDITABLE_BYTES;
  const isWanted = !isKnownBinary && !isLarge && (isAsked || size <= BEGINNING_BYTES);
  const { data, isError } = useQuery({
    ...bodyQuery(uid, request, 'whole'),
    enabled: size > 0 && preview === undefined && isWanted,
  });
  const bytes = preview ?? data;
  const text = useMemo(() => (bytes === undefined ? undefined : editable(bytes)), [bytes]);
  const coding = codingNamesOf(firstHeader(request.rawHeaders, 'content-encoding')).join(', ');
  const load = (): void => ask(true);
  const state = (): CapturedBody['state'] => {
    if (size === 0) return 'none';
    if (isKnownBinary) return 'binary';
    if (isLarge) return 'large';
    if (bytes !== undefined) return text === undefined ? 'binary' : 'text';
    if (isError) return 'failed';
    return isWanted ? 'loading' : 'not-loaded';
  };
  return { text: size === 0 ? capturedText('') : text, state: state(), coding, load };
}

/** True if a text area can show the text without loss except for line endings. NUL can't be shown. */
function editable(bytes: Uint8Array): CapturedText | undefined {
  const text = textOf(bytes);
  return text === undefined || text.includes('\0') ? undefined : capturedText(text);
}
