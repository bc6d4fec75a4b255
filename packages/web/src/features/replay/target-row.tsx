import { clsx } from 'clsx';
import { Send, ChevronDown } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import type { Ref } from 'react';
import type { ListedRequest } from '../../api/request-list.ts';
import { Button } from '../../ui/button.tsx';
import { DropdownMenu, MenuItem } from '../../ui/dropdown-menu.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { keepsFocus } from '../../ui/focus.ts';
import { useSignal } from '../../ui/state.ts';
import { methodsFor } from './replay-form.ts';
import { placeholderNote, replayTargetsPreference } from './replay-targets.ts';
import type { Replay } from './use-replay.ts';

/** Below the field; above the button if that is on its own line. */
const MESSAGE = 'col-span-full text-sm @md:order-last';

interface TargetRowProps {
  readonly ref: Ref<HTMLDivElement>;
  readonly uid: string;
  readonly request: ListedRequest;
  readonly replay: Replay;
  readonly focusAsked: number;
}

/** Method, target and the send button. This row stays in place while the rest scrolls. */
export function TargetRow({ ref, uid, request, replay, focusAsked }: TargetRowProps) {
  const { form, change, errors } = replay;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focusAsked === 0) return;
    field.current?.focus();
    field.current?.select();
  }, [focusAsked]);
  const message = errors['url'] ?? errors['method'];
  const hint = placeholderNote(form.url);
  return (
    <div
      ref={ref}
      className="sticky top-0 z-10 grid shrink-0 grid-cols-[5.5rem_minmax(0,1fr)] gap-2 border-b border-line bg-bg px-4 pt-0.5 pb-3 @md:grid-cols-[5.5rem_minmax(0,1fr)_auto]"
    >
      <div className="flex flex-col justify-end gap-1">
        <label htmlFor={`${id}-method`} className="text-sm font-medium text-ink-2">
          Method
        </label>
        <Select
          id={`${id}-method`}
          value={form.method}
          onChange={(choice) => change({ method: choice.target.value })}
          className="font-mono text-sm"
        >
          {methodsFor(request).map((method) => (
            <option key={method}>{method}</option>
          ))}
        </Select>
      </div>
      <div className="flex min-w-0 flex-col justify-end gap-1">
        <div className="flex min-w-0 items-center gap-2">
          <label htmlFor={`${id}-url`} className="shrink-0 text-sm font-medium text-ink-2">
            Destination URL
          </label>
          <RecentTargets uid={uid} url={form.url} onUse={(url) => change({ url })} />
        </div>
        <Input
          ref={field}
          id={`${id}-url`}
          isData
          // Not `type="url"`, because the browser would show its own validation messages.
          type="text"
          inputMode="url"
          value={form.url}
          aria-invalid={message === undefined ? undefined : true}
          aria-describedby={message === undefined && hint !== undefined ? `${id}-hint` : `${id}-error`}
          onChange={(input) => change({ url: input.target.value })}
        />
      </div>
      <p id={`${id}-error`} role="alert" className={clsx(MESSAGE, 'text-bad empty:hidden')}>
        {message}
      </p>
      {message === undefined && hint !== undefined ? (
        <p id={`${id}-hint`} className={clsx(MESSAGE, 'text-ink-2')}>
          {hint}
        </p>
      ) : null}
      <SendButtons replay={replay} />
    </div>
  );
}

/** Disabled while sending and without a session. Offers to cancel a running replay. */
function SendButtons({ replay: { state, anonymous } }: { readonly replay: Replay }) {
  const isSending = state?.phase === 'sending';
  const reason = anonymous ? 'Authentication required to replay requests' : undefined;
  return (
    // "Cancel" disappears with the running replay.
    <div
      {...keepsFocus('button')}
      className="col-span-full flex items-center gap-2 self-end outline-none @md:col-span-1"
    >
      <Button type="submit" variant="primary" busy={isSending} reason={reason} className="grow">
        <Send />
        {isSending ? 'Sending...' : 'Send Request'}
      </Button>
      {isSending ? <Button onClick={() => state.cancel()}>Cancel</Button> : null}
    </div>
  );
}

interface RecentTargetsProps {
  readonly uid: string;
  readonly url: string;
  readonly onUse: (url: string) => void;
}

/** A menu of the recent targets of this endpoint, newest first. */
function RecentTargets({ uid, url, onUse }: RecentTargetsProps) {
  const known = useSignal(replayTargetsPreference)[uid] ?? [];
  if (known.every((target) => target === url.trim())) return null;
  return (
    <DropdownMenu
      trigger={
        <Button variant="ghost" size="sm" className="-my-1 ml-auto h-6 px-1.5">
          Recent <ChevronDown />
        </Button>
      }
    >
      {known.map((target) => (
        <MenuItem key={target} onSelect={() => onUse(target)}>
          <span title={target} className="max-w-[min(28rem,70vw)] truncate font-mono text-sm">
            {target}
          </span>
        </MenuItem>
      ))}
    </DropdownMenu>
  );
}
