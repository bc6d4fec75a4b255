import { Send } from 'lucide-react';
import { useRef } from 'react';
import { Button, Tooltip } from '../../ui/button.tsx';
import type { Replay } from './use-replay.ts';

const AUTHENTICATION_HINT = 'Authentication required to replay requests';

/** Disabled while sending and without a session. Offers to cancel a running replay. */
export function SendButtons({ replay: { state, anonymous } }: { readonly replay: Replay }) {
  const send = useRef<HTMLButtonElement>(null);
  const isSending = state?.phase === 'sending';
  const button = (
    <Button ref={send} type="submit" variant="primary" disabled={anonymous} busy={isSending} className="grow">
      <Send />
      {isSending ? 'Sending...' : 'Send Request'}
    </Button>
  );
  return (
    <div className="col-span-full flex items-center gap-2 self-end @md:col-span-1">
      {anonymous ? (
        <Tooltip text={AUTHENTICATION_HINT}>
          <span title={AUTHENTICATION_HINT} className="flex grow">
            {button}
          </span>
        </Tooltip>
      ) : (
        button
      )}
      {isSending ? (
        <Button
          onClick={() => {
            // The cancel button disappears with the running replay.
            send.current?.focus();
            state.cancel();
          }}
        >
          Cancel
        </Button>
      ) : null}
    </div>
  );
}
