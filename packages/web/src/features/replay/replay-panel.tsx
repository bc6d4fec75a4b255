import { clsx } from 'clsx';
import { ChevronRight } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import type { RequestPartProps } from '../../api/request-list.ts';
import { Badge } from '../../ui/badges.tsx';
import { Kbd, Button } from '../../ui/button.tsx';
import { COMMAND_IDS, useCommands } from '../../ui/commands.ts';
import { Loading } from '../../ui/feedback.tsx';
import { keepsFocus } from '../../ui/focus.ts';
import { statusTone } from '../../ui/format.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { usePaneShare, PaneDivider } from '../../ui/pane-divider.tsx';
import { useDetailsCover } from '../../ui/state.ts';
import { discardDraft, useReplayOpen, isChanged, useReplayDraft } from './replay-drafts.ts';
import { useReplayState } from './replays.ts';

const FORM_LOADING = <Loading label="Loading the form" bars={['h-8', 'h-24']} className="gap-2 p-4" />;

const ReplayFormView = lazyPart(async () => (await import('./replay-form-view.tsx')).ReplayFormView, FORM_LOADING);

/** The share of the details' height above the open panel. */
const BOUNDS = { initial: 0.6, min: 0.3, max: 0.8 };

/** The bar below a request that opens the replay form. The form is closed for each request that is selected. */
export function ReplayPanel({ uid, request }: RequestPartProps) {
  const [isOpen, setOpen] = useReplayOpen(uid, request.index);
  const [focusAsked, askFocus] = useState(0);
  const pane = usePaneShare('replay', BOUNDS);
  const covers = useDetailsCover();
  const panel = useRef<HTMLElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const contentId = useId();
  const open = (): void => {
    setOpen(true);
    askFocus((times) => times + 1);
  };
  useCommands([
    { id: COMMAND_IDS.replay, title: 'Open the replay form', group: 'Request', inPalette: false, run: open },
  ]);
  const onToggle = (): void => {
    askFocus(0);
    setOpen(!isOpen);
  };
  // Beside the list, the form scrolls on its own. Over the list, the details scroll as a whole.
  const scrollsAlone = !covers;
  return (
    <section
      ref={panel}
      // "Discard changes" removes itself.
      {...keepsFocus('h3 button')}
      aria-label="Replay Request"
      className="flex shrink-0 flex-col outline-none"
      style={isOpen && scrollsAlone ? { height: `${(1 - pane.share) * 100}%` } : undefined}
    >
      {isOpen && scrollsAlone ? (
        <PaneDivider
          orientation="horizontal"
          label="Request and replay"
          frame={() => panel.current?.parentElement}
          {...pane}
        />
      ) : (
        <div className="h-px shrink-0 bg-line" />
      )}
      <div className="flex min-h-9 shrink-0 items-center gap-2 pr-4 pl-2.5">
        <h3 className="flex min-w-0 grow">
          <button
            ref={toggle}
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? contentId : undefined}
            onClick={onToggle}
            className="flex h-7 min-w-0 grow items-center gap-1.5 rounded-md px-1.5 font-medium text-accent hover:bg-sunk aria-expanded:text-ink [&_svg]:size-3.5 [&_svg]:transition-transform aria-expanded:[&_svg]:rotate-90"
          >
            <ChevronRight aria-hidden />
            Replay Request
          </button>
        </h3>
        <ReplayBadges uid={uid} index={request.index} showsStatus={!isOpen} />
        <Kbd className="max-md:hidden">r</Kbd>
      </div>
      {isOpen ? (
        <div id={contentId} className={clsx('flex flex-col', scrollsAlone && 'min-h-0 grow')}>
          {request.slim === undefined ? (
            <ReplayFormView
              uid={uid}
              request={request}
              focusAsked={focusAsked}
              scrollsAlone={scrollsAlone}
              onLeave={() => toggle.current?.focus()}
            />
          ) : (
            FORM_LOADING
          )}
        </div>
      ) : null}
    </section>
  );
}

interface ReplayBadgesProps {
  readonly uid: string;
  readonly index: number;
  readonly showsStatus: boolean;
}

/** The badges of the replay bar: the last status, and whether there are unsent changes. */
function ReplayBadges({ uid, index, showsStatus }: ReplayBadgesProps) {
  const [draft] = useReplayDraft(uid, index);
  const state = useReplayState(uid, index);
  return (
    <>
      {showsStatus && state?.phase === 'answered' ? (
        <Badge tone={statusTone(state.answer.status)}>{state.answer.status}</Badge>
      ) : null}
      {/* The open editor is no change yet. */}
      {isChanged({ ...draft, editor: undefined }) ? (
        <Button size="sm" variant="ghost" onClick={() => discardDraft(uid, index)}>
          Discard changes
        </Button>
      ) : null}
    </>
  );
}
