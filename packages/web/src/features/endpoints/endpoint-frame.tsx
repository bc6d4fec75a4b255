import type { EndpointDetail } from '@creel/contract';
import { useId } from 'react';
import { z } from 'zod';
import { useLiveEndpoint } from '../../api/live-feed.ts';
import { useUser } from '../../api/queries.ts';
import { useCommands } from '../../ui/commands.ts';
import { copyWithToast } from '../../ui/copy.tsx';
import { useIsNarrow, storedValue, useSignal } from '../../ui/state.ts';
import { EndpointHeader } from './endpoint-header.tsx';
import { endpointHints } from './endpoint-labels.ts';
import { StatCards } from './stat-cards.tsx';
import { UrlBar } from './url-bar.tsx';

/** Whether the user has collapsed the part above the requests; `null` until the user decides. */
const collapsedPreference = storedValue('endpointCollapsed', z.boolean().nullable(), null);

interface EndpointFrameProps {
  readonly endpoint: EndpointDetail;
  readonly hasPausedDestination: boolean;
}

/**
 * The part above the requests: header, URL, hints and figures. It renders with the live figures; the requests do not.
 * Collapsed, which is the default on a narrow screen, it is the name and the URL.
 */
export function EndpointFrame({ endpoint, hasPausedDestination }: EndpointFrameProps) {
  const live = useLiveEndpoint(endpoint.uid);
  const tier = useUser()?.subscriptionTier;
  const narrow = useIsNarrow();
  const choice = useSignal(collapsedPreference);
  const contentId = useId();
  const isCollapsed = choice ?? narrow;
  const onToggle = (): void => collapsedPreference.set(!isCollapsed);
  const group = 'Endpoint';
  useCommands([
    {
      id: 'endpoint.copy',
      title: 'Copy the endpoint URL',
      group,
      run: () => void copyWithToast(endpoint.url, { title: 'URL Copied!' }),
    },
    {
      id: 'endpoint.collapse',
      title: isCollapsed ? 'Show endpoint details' : 'Hide endpoint details',
      group,
      run: onToggle,
    },
  ]);
  return (
    <div className="flex shrink-0 flex-col gap-1 px-5 pt-1.5 max-md:gap-2 max-md:px-4 max-md:pt-2.5" id={contentId}>
      <EndpointHeader endpoint={endpoint} isCollapsed={isCollapsed} contentId={contentId} onToggle={onToggle} />
      <UrlBar endpoint={endpoint} hasPausedDestination={hasPausedDestination} />
      {isCollapsed ? (
        <div className="h-1" />
      ) : (
        <>
          <p className="text-xs text-pretty text-ink-2">
            {endpointHints(endpoint, tier).map((hint) => (
              <span key={hint}>{hint} </span>
            ))}
          </p>
          <StatCards endpoint={endpoint} {...live} />
        </>
      )}
    </div>
  );
}
