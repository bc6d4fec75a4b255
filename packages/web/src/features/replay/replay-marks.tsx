import { Badge } from '../../ui/badges.tsx';
import { Button } from '../../ui/button.tsx';
import { statusTone } from '../../ui/format.ts';
import { isChanged, useReplayDraft } from './replay-drafts.tsx';
import { useReplayState } from './replays.ts';

interface ReplayMarksProps {
  readonly uid: string;
  readonly index: number;
  readonly showsStatus: boolean;
}

const ALL_OF_IT = { method: undefined, url: undefined, rows: undefined, body: undefined, sign: undefined };

/** The badges of the replay bar: the last status, and whether there are unsent changes. */
export function ReplayMarks({ uid, index, showsStatus }: ReplayMarksProps) {
  const [draft, change] = useReplayDraft(index);
  const state = useReplayState(uid, index);
  return (
    <>
      {showsStatus && state?.phase === 'answered' ? (
        <Badge tone={statusTone(state.answer.status)}>{state.answer.status}</Badge>
      ) : null}
      {isChanged(draft) ? (
        <Button size="sm" variant="ghost" onClick={() => change(ALL_OF_IT)}>
          Discard changes
        </Button>
      ) : null}
    </>
  );
}
