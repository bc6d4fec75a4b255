import { clsx } from 'clsx';
import { useCallback, useRef, useId } from 'react';
import type { RefObject } from 'react';
import { useSigning } from '../../api/queries.ts';
import type { ListedRequest } from '../../api/request-list.ts';
import { isOfInputMethod, useCommands } from '../../ui/commands.ts';
import { Switch } from '../../ui/switch.tsx';
import { BodySection } from './body-section.tsx';
import type { HeaderRow } from './header-rows.ts';
import { HeaderTable } from './header-table.tsx';
import type { ReplayDraft, ReplayForm } from './replay-form.ts';
import { ReplayResponse } from './replay-response.tsx';
import { TargetRow } from './target-row.tsx';
import { useOutcome, useReplay } from './use-replay.ts';

interface ReplayFormViewProps {
  readonly uid: string;
  readonly request: ListedRequest;
  /** Increases each time the URL field should be focused. */
  readonly focusAsked: number;
  /** False if the details scroll as a whole. */
  readonly scrollsAlone: boolean;
  /** Escape in a field moves the focus out of the form. */
  readonly onLeave: () => void;
}

/** The replay form, and the response below it. */
export function ReplayFormView({ uid, request, focusAsked, scrollsAlone, onLeave }: ReplayFormViewProps) {
  const replay = useReplay(uid, request);
  const { form, change, errors, state, formElement, send } = replay;
  const canSign = useSigning(uid) !== null;
  const targetRow = useRef<HTMLDivElement>(null);
  const response = useRef<HTMLDivElement>(null);
  useOutcome(state, () => {
    // Over the list, the row stays at the top, and must neither cover the response nor leave a gap above it.
    formElement.current?.style.setProperty('--target-row', `${targetRow.current?.offsetHeight ?? 0}px`);
    response.current?.scrollIntoView({ block: 'start' });
  });
  useSendKey(formElement, send);
  const onRows = useCallback((rows: readonly HeaderRow[]) => change({ rows }), [change]);
  const onUse = useCallback((url: string) => change({ url }), [change]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys are those of its fields
    <form
      ref={formElement}
      noValidate
      onSubmit={(submit) => {
        submit.preventDefault();
        send();
      }}
      // Escape leaves the form, so that shortcuts work again. Open dialogs and menus have already handled their own.
      onKeyDown={(press) => {
        if (press.key !== 'Escape' || press.defaultPrevented || isOfInputMethod(press)) return;
        press.preventDefault();
        onLeave();
      }}
      className={clsx('flex flex-col', scrollsAlone && 'min-h-0 grow')}
    >
      <TargetRow ref={targetRow} uid={uid} request={request} replay={replay} focusAsked={focusAsked} />
      <div className={clsx('relative flex flex-col', scrollsAlone && 'min-h-0 grow overflow-y-auto')}>
        <HeaderTable rows={form.rows} error={errors['headers']} onChange={onRows} />
        {canSign ? <SignAgain form={form} error={errors['sign']} onChange={change} /> : null}
        <BodySection
          uid={uid}
          request={request}
          form={form}
          error={errors['body']}
          canSign={canSign}
          onChange={change}
        />
        {/* Tall enough to scroll to the top, even if the response is short. */}
        <div
          ref={response}
          className={clsx(
            'shrink-0',
            !scrollsAlone && 'scroll-mt-(--target-row)',
            state && (scrollsAlone ? 'min-h-full' : 'min-h-[calc(100dvh-var(--target-row,0px))]'),
          )}
        >
          <ReplayResponse uid={uid} index={request.index} state={state} onUse={onUse} />
        </div>
      </div>
    </form>
  );
}

/** Ctrl/Cmd+Enter sends from anywhere in the form. */
function useSendKey(form: RefObject<HTMLFormElement | null>, send: () => void): void {
  const run = (): void => {
    if (form.current?.contains(document.activeElement) === true) send();
  };
  useCommands([
    { id: 'replay.send', title: 'Send the replay', group: 'Request', keys: 'mod+enter', inPalette: false, run },
  ]);
}

interface SignAgainProps {
  readonly form: ReplayForm;
  readonly error: string | undefined;
  readonly onChange: (part: ReplayDraft) => void;
}

/** Renews the signature of the replay. */
function SignAgain({ form, error, onChange }: SignAgainProps) {
  const id = useId();
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-2 px-4 pb-3">
      <Switch
        id={id}
        checked={form.sign}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={`${id}-hint`}
        onCheckedChange={(isOn) => onChange({ sign: isOn ? true : undefined })}
      />
      <label htmlFor={id} className="font-medium">
        Sign again
      </label>
      <span id={`${id}-hint`} className="text-sm text-ink-2">
        A new signature of what is sent, with the current time.
      </span>
      <p role="alert" className="basis-full text-sm text-bad empty:hidden">
        {error}
      </p>
    </div>
  );
}
