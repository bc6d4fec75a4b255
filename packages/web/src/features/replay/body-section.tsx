import { bodyBytesOf, firstHeader, codingNamesOf, textOf } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { Maximize2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ListedRequest } from '../../api/request-list.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { BODY_COPIED, CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogClose } from '../../ui/dialog.tsx';
import { Notice, Skeleton } from '../../ui/feedback.tsx';
import { TextArea } from '../../ui/field.tsx';
import { keepsFocus } from '../../ui/focus.ts';
import { formatSize } from '../../ui/format.ts';
import { declaredCoding, hasSignature } from './header-rows.ts';
import { useReplayDraft } from './replay-drafts.ts';
import { bodyEdit, capturedText } from './replay-form.ts';
import type { ReplayDraft, ReplayForm, CapturedText } from './replay-form.ts';
import { bodyQuery } from '../../api/body-queries.ts';
import { BEGINNING_BYTES } from '../../bodies/view-body.ts';

interface BodySectionProps {
  readonly uid: string;
  readonly request: ListedRequest;
  readonly form: ReplayForm;
  readonly error: string | undefined;
  /** True if the endpoint has a signing secret. */
  readonly canSign: boolean;
  readonly onChange: (part: ReplayDraft) => void;
}

/** The body to send: exactly the captured bytes, until the user edits them. */
export function BodySection({ uid, request, form, error, canSign, onChange }: BodySectionProps) {
  const captured = useCapturedBody(uid, request);
  // It stays open when the layout changes.
  const [{ editor }] = useReplayDraft(uid, request.index);
  const edited = form.body;
  const shown = edited?.text ?? captured.text?.shown;
  const change = (text: string): void => onChange({ body: bodyEdit(text, captured.text) });
  return (
    <section
      // Buttons that change what is edited are removed by it. The text gets the focus, or the first button without one.
      {...keepsFocus('textarea, [data-keeps-focus]:not(:has(textarea)) button')}
      aria-label="Body of the replay"
      className="flex shrink-0 flex-col gap-2 px-4 pb-4 outline-none"
    >
      <div className="flex min-h-7 flex-wrap items-center gap-x-2 gap-y-1">
        <h4 className="font-medium">Body</h4>
        {edited === undefined ? (
          <p className="min-w-0 grow text-sm text-ink-2">{asCaptured(request.size, captured)}</p>
        ) : (
          <>
            <Badge tone="accent">Edited</Badge>
            <div className="grow">
              {captured.state === 'none' ? null : (
                <Button size="sm" variant="ghost" onClick={() => onChange({ body: undefined })}>
                  Back to the captured body
                </Button>
              )}
            </div>
          </>
        )}
        {shown === undefined ? null : (
          <IconButton label="Expand the editor" icon={<Maximize2 />} onClick={() => onChange({ editor: shown })} />
        )}
      </div>
      {shown === undefined ? (
        <NoText captured={captured} onWrite={() => change('')} />
      ) : (
        <TextArea
          aria-label="Body"
          rows={5}
          value={shown}
          onChange={(input) => change(input.target.value)}
          className="min-h-20 resize-y"
        />
      )}
      {edited === undefined ? null : <EditNotes form={form} canSign={canSign} />}
      {error === undefined ? null : <Notice tone="bad">{error}</Notice>}
      {editor !== undefined && shown !== undefined ? (
        <BodyDialog
          text={shown}
          draft={editor}
          onChange={(text) => onChange({ editor: text })}
          onApply={change}
          onClose={() => onChange({ editor: undefined })}
        />
      ) : null}
    </section>
  );
}

function asCaptured(size: number, { state, coding }: CapturedBody): string {
  if (state === 'none') return 'No body was captured. Text that you enter here is sent.';
  const kind = coding === '' ? (state === 'binary' ? ' of binary data' : '') : ` coded as ${coding}`;
  return `As captured, ${formatSize(size)}${kind}, sent byte for byte`;
}

/** Replaces the editor if the body can't be edited: says why and what the user can do. */
function NoText({ captured, onWrite }: { readonly captured: CapturedBody; readonly onWrite: () => void }) {
  if (captured.state === 'loading') return <Skeleton className="h-24" />;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {captured.state === 'not-loaded' ? (
        <Button size="sm" onClick={captured.load}>
          Edit as text
        </Button>
      ) : null}
      <Button size="sm" onClick={onWrite}>
        Replace the body
      </Button>
      {captured.state === 'large' ? (
        <span className="text-sm text-ink-2">This body is too large to be edited here.</span>
      ) : null}
      {captured.state === 'failed' ? (
        <span className="text-sm text-bad">The captured body could not be loaded for editing.</span>
      ) : null}
    </div>
  );
}

/** Warnings about an edited body that are not visible in the text. */
function EditNotes({ form: { rows, body, sign }, canSign }: { readonly form: ReplayForm; readonly canSign: boolean }) {
  const coding = declaredCoding(rows);
  return (
    <>
      {hasSignature(rows) && !sign ? (
        <Notice tone="warn">
          The signature was made for the captured body and will not match.
          {canSign ? ' Switch on “Sign again”.' : ' With a signing secret, Creel can sign it again.'}
        </Notice>
      ) : null}
      {coding === undefined ? null : (
        <Notice tone="warn">
          The headers declare the content coding {coding}, but the edited body is sent as plain text. Remove
          Content-Encoding.
        </Notice>
      )}
      {body?.ends === 'mixed' ? (
        <Notice>The captured body has mixed line endings. After an edit, all lines end in LF.</Notice>
      ) : null}
    </>
  );
}

interface BodyDialogProps {
  readonly text: string;
  /** The text with the changes that are not applied yet. */
  readonly draft: string;
  readonly onChange: (draft: string) => void;
  readonly onApply: (text: string) => void;
  readonly onClose: () => void;
}

/** The body in a large editor. Changes apply on confirmation. */
function BodyDialog({ text, draft, onChange, onApply, onClose }: BodyDialogProps) {
  const apply = (): void => {
    onApply(draft);
    onClose();
  };
  return (
    <Dialog
      onClose={onClose}
      title="Edit Request Body"
      width="lg"
      footer={
        <>
          <CopyButton text={draft} label="Copy" toast={BODY_COPIED}>
            Copy
          </CopyButton>
          <DialogClose asChild>
            <Button className="ml-auto">Close</Button>
          </DialogClose>
          <Button variant="primary" onClick={apply}>
            Apply Changes
          </Button>
        </>
      }
    >
      <TextArea
        data-first-focus
        data-unsaved={draft !== text || undefined}
        aria-label="Request body"
        value={draft}
        onChange={(input) => onChange(input.target.value)}
        onKeyDown={(press) => {
          if (press.key === 'Enter' && (press.ctrlKey || press.metaKey)) {
            press.preventDefault();
            apply();
          }
        }}
        className="h-[60dvh] resize-none"
      />
    </Dialog>
  );
}

/** Maximum number of bytes of a text that can be edited. A longer one would freeze the text area. */
const MAX_EDITABLE_BYTES = 2 * 1024 * 1024;

type CapturedBody = ReturnType<typeof useCapturedBody>;

/** The captured body for the editor. Text of up to 256 KiB is loaded at once, longer text on request. */
function useCapturedBody(uid: string, request: ListedRequest) {
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
  const stateOf = () => {
    if (size === 0) return 'none';
    if (isKnownBinary) return 'binary';
    if (isLarge) return 'large';
    if (bytes !== undefined) return text === undefined ? 'binary' : 'text';
    if (isError) return 'failed';
    // Probably text, which is loaded on request.
    return isWanted ? 'loading' : 'not-loaded';
  };
  return {
    /** The text, if the body is text and loaded. */
    text: size === 0 ? capturedText('') : text,
    state: stateOf(),
    coding: codingNamesOf(firstHeader(request.rawHeaders, 'content-encoding')).join(', '),
    load: () => ask(true),
  };
}

/** True if a text area can show the text without loss except for line endings. NUL can't be shown. */
function editable(bytes: Uint8Array): CapturedText | undefined {
  const text = textOf(bytes);
  return text === undefined || text.includes('\0') ? undefined : capturedText(text);
}
