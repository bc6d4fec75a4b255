import { useServiceInfo } from '../../../api/queries.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/feedback.tsx';
import { useProviderSignIn } from './use-provider-sign-in.ts';

/** Third-party login. Disabled with a reason if the server has none configured. */
export function ProviderButton({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const info = useServiceInfo();
  const { start, busy, problem } = useProviderSignIn(info.data, onSignedIn);
  const name = info.data?.signIn?.name ?? 'Google';
  const isOff = info.data?.signIn === null;
  return (
    <div className="flex flex-col gap-2">
      {problem === undefined ? null : <Notice tone="bad">{problem}</Notice>}
      <Button
        className="w-full"
        variant={isOff ? 'ghost' : 'secondary'}
        disabled={!info.data?.signIn}
        busy={busy}
        aria-describedby={isOff ? 'provider-off' : undefined}
        onClick={start}
      >
        {busy ? 'Waiting for the login window…' : `Continue with ${name}`}
      </Button>
      {isOff ? (
        <p id="provider-off" className="text-center text-sm text-ink-2">
          Login with {name} is not set up on this server.
        </p>
      ) : null}
    </div>
  );
}
