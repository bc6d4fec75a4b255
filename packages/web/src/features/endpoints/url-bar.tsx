import { PLANS } from '@creel/contract';
import type { EndpointDetail } from '@creel/contract';
import { clsx } from 'clsx';
import { Forward, KeyRound } from 'lucide-react';
import { useUser } from '../../api/queries.ts';
import { Badge } from '../../ui/badges.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand, useCommands } from '../../ui/commands.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { UpgradeLink } from '../../ui/feedback.tsx';
import { Switch } from '../../ui/switch.tsx';
import { useSetAutosave, useSetFavorite } from './endpoint-mutations.ts';

interface UrlBarProps {
  readonly endpoint: EndpointDetail;
  readonly hasPausedDestination: boolean;
}

/** The capture URL with buttons to copy it and to forward its captures, and the two switches. */
export function UrlBar({ endpoint, hasPausedDestination }: UrlBarProps) {
  return (
    <section
      aria-labelledby="endpoint-url"
      className="relative flex flex-wrap items-stretch overflow-clip rounded-md border border-line-strong bg-panel"
    >
      <h2 id="endpoint-url" className="sr-only">
        Endpoint URL
      </h2>
      <div className="flex min-w-0 grow-[999] basis-118 items-center gap-1.5 py-0.5 pr-0.5 pl-3 max-lg:gap-1 max-lg:pl-2 max-md:py-1 max-md:pr-1">
        <CaptureUrl url={endpoint.url} uid={endpoint.uid} />
        <CopyButton
          text={endpoint.url}
          label="Copy"
          size="sm"
          className="max-lg:px-2 md:h-6.5"
          toast={{ title: 'URL Copied!' }}
        >
          Copy
        </CopyButton>
        <ForwardButton hasPaused={hasPausedDestination} />
        <IconButton
          label={endpoint.signing === null ? 'Signing secret' : 'Signing secret (set)'}
          icon={<KeyRound />}
          aria-haspopup="dialog"
          data-on={endpoint.signing === null ? undefined : true}
          className="md:size-6.5"
          onClick={() => runCommand(COMMAND_IDS.signing)}
        />
      </div>
      {/* The borders overlap those of the frame, so only the inner ones are visible. */}
      <div className="-mt-px -ml-px flex grow items-stretch border-t border-line">
        <FavoriteSwitch endpoint={endpoint} />
        <AutosaveSwitch endpoint={endpoint} />
      </div>
    </section>
  );
}

/** Opens the destinations, and says when one of them is paused. */
function ForwardButton({ hasPaused }: { readonly hasPaused: boolean }) {
  const label = hasPaused ? 'Forward (a destination is paused)' : 'Forward';
  return (
    <Button
      size="sm"
      aria-label={label}
      title={label}
      className="max-lg:px-2 md:h-6.5"
      onClick={() => runCommand(COMMAND_IDS.forward)}
    >
      <Forward />
      <span className="max-lg:hidden">Forward</span>
      {hasPaused ? <Badge tone="warning">Paused</Badge> : null}
    </Button>
  );
}

/**
 * Emphasizes the part that identifies the endpoint. A long URL is truncated in the middle. Its beginning is left out
 * where there is only room for a part of a letter.
 */
function CaptureUrl({ url, uid }: { readonly url: string; readonly uid: string }) {
  const at = url.lastIndexOf(uid);
  return (
    <code className="@container flex min-w-0 grow text-sm" title={url}>
      <span className="truncate text-ink-3 @max-[11.5rem]:hidden">{url.slice(0, Math.max(0, at))}</span>
      <span className="max-w-full shrink-0 truncate">{url.slice(Math.max(0, at))}</span>
    </code>
  );
}

const CELL =
  'flex h-7.5 max-md:h-9 items-center gap-2.5 border-line px-3 max-xl:px-2.5 not-first:border-l sm:border-l max-sm:grow';

function FavoriteSwitch({ endpoint }: { readonly endpoint: EndpointDetail }) {
  const favorite = useSetFavorite(endpoint.uid);
  const isFree = useUser()?.subscriptionTier === 'FREE';
  const control = (
    <label htmlFor="favorite" className={CELL}>
      <Switch
        id="favorite"
        checked={endpoint.isFavorite === 'true'}
        busy={isFree || favorite.isPending}
        onCheckedChange={(isOn) => favorite.mutate(isOn)}
        className={clsx(isFree && 'opacity-50')}
        aria-description={isFree ? PLANS.FREE.favoriteLimitSentence : undefined}
      />
      <span className="font-medium">Favorite</span>
    </label>
  );
  if (!isFree) return control;
  return (
    <span className="flex items-center pr-3 max-sm:grow">
      {control}
      <UpgradeLink />
    </span>
  );
}

function AutosaveSwitch({ endpoint }: { readonly endpoint: EndpointDetail }) {
  const autosave = useSetAutosave(endpoint.uid);
  const turnOn = (): void => autosave.mutate(true);
  useCommands([
    { id: COMMAND_IDS.autosave, title: 'Turn on autosave', group: 'Endpoint', inPalette: false, run: turnOn },
  ]);
  return (
    <label htmlFor="autosave" className={CELL}>
      <Switch
        id="autosave"
        checked={endpoint.autosave === 'true'}
        busy={autosave.isPending}
        onCheckedChange={(isOn) => autosave.mutate(isOn)}
      />
      <span className="font-medium">Autosave</span>
    </label>
  );
}
