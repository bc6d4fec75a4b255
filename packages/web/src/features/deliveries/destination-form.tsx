import { ApiError, destinationCreateSchema, parseQuery } from '@creel/contract';
import type { Destination } from '@creel/contract';
import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';
import { errorMessage } from '../../api/client.ts';
import { useSigning } from '../../api/queries.ts';
import { knownValuesOf } from '../../ui/query-completion.ts';
import { readList } from '../../api/request-lists.ts';
import { Button } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { Notice } from '../../ui/feedback.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Switch } from '../../ui/switch.tsx';
import { fieldErrors, serverFieldErrors, useFormErrors } from '../../ui/form.ts';
import type { FieldErrors } from '../../ui/form.ts';
import { QueryField } from '../../ui/query-field.tsx';
import { completeUrl } from '../../ui/urls.ts';
import { useChangeDestination, useCreateDestination } from './delivery-queries.ts';

interface DestinationFormProps {
  readonly uid: string;
  /** `undefined` for a new one. */
  readonly destination: Destination | undefined;
  readonly onDone: () => void;
}

const FIELDS = ['url', 'query', 'sign'];

/** The server's messages by field. A target that is not allowed is a mistake in the URL. */
function serverErrors(error: unknown): FieldErrors {
  if (error instanceof ApiError && error.code === 'TARGET_NOT_ALLOWED') return { url: error.sentence };
  return serverFieldErrors(error, FIELDS);
}

/** Adds or changes a destination. */
export function DestinationForm({ uid, destination, onDone }: DestinationFormProps) {
  const [url, setUrl] = useState(destination?.url ?? '');
  const [query, setQuery] = useState(destination?.query ?? '');
  const [appendPath, setAppendPath] = useState(destination?.appendPath ?? false);
  const [sign, setSign] = useState(destination?.sign ?? false);
  const { ref, errors, refuse, clear } = useFormErrors();
  const create = useCreateDestination(uid);
  const change = useChangeDestination(uid, destination?.id ?? 0);
  const call = destination === undefined ? create : change;
  const hasSecret = useSigning(uid) !== null;
  const onSubmit = (submit: FormEvent): void => {
    submit.preventDefault();
    if (call.isPending) return;
    const wanted = { url: completeUrl(url), query: query.trim(), appendPath, sign };
    const condition = parseQuery(wanted.query);
    const found = {
      ...fieldErrors(destinationCreateSchema, wanted),
      ...(condition.ok ? {} : { query: condition.sentence }),
    };
    if (Object.keys(found).length > 0) return refuse(found);
    const outcome = { onSuccess: onDone, onError: (error: Error) => refuse(serverErrors(error)) };
    if (destination === undefined) create.mutate({ ...wanted, enabled: true }, outcome);
    else change.mutate(wanted, outcome);
  };
  const isAtAField = Object.keys(serverErrors(call.error)).length > 0;
  return (
    <form ref={ref} noValidate onSubmit={onSubmit} className="flex flex-col gap-4">
      {call.isError && !isAtAField ? (
        <Notice tone="bad">{errorMessage(call.error, 'The destination could not be stored. Please try again.')}</Notice>
      ) : null}
      <Field
        label="URL"
        error={errors['url']}
        hint="The server must be able to reach it. For a program on your own machine, use “To localhost”."
      >
        {(control) => (
          <Input
            {...control}
            data-first-focus
            mono
            inputMode="url"
            autoComplete="off"
            spellCheck={false}
            placeholder="https://api.example.com/webhooks"
            value={url}
            onChange={({ target }) => {
              setUrl(target.value);
              clear('url');
            }}
          />
        )}
      </Field>
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">Condition (optional)</span>
        <QueryField
          label="Condition"
          placeholder="All captures, or for example event:invoice.*"
          query={destination?.query ?? ''}
          onQuery={() => undefined}
          onText={setQuery}
          error={errors['query']}
          known={() => knownValuesOf(readList(uid).rows)}
        />
      </div>
      <Option
        label="Append the captured path and query"
        hint="A capture at …/orders?a=1 goes to the URL followed by /orders?a=1."
        checked={appendPath}
        onChange={setAppendPath}
      />
      <Option
        label="Sign again"
        hint={
          hasSecret ? (
            'Sends a new signature with the time of sending, so that a late attempt is not rejected as too old.'
          ) : (
            <>
              This endpoint has no signing secret.{' '}
              <button
                type="button"
                className="text-accent underline underline-offset-2"
                onClick={() => runCommand(COMMAND_IDS.signing)}
              >
                Set one
              </button>
            </>
          )
        }
        error={errors['sign']}
        checked={sign}
        disabled={!hasSecret && !sign}
        onChange={(wanted) => {
          setSign(wanted);
          clear('sign');
        }}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Back</Button>
        <Button type="submit" variant="primary" busy={call.isPending}>
          {call.isPending ? 'Saving…' : destination === undefined ? 'Add destination' : 'Save'}
        </Button>
      </div>
    </form>
  );
}

interface OptionProps {
  readonly label: string;
  readonly hint: ReactNode;
  readonly error?: string | undefined;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}

function Option({ label, hint, error, checked, disabled = false, onChange }: OptionProps) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      className="grid! grid-cols-[1fr_auto] items-center gap-x-3 *:first:order-first *:not-[button,label]:col-span-2"
    >
      {(control) => <Switch {...control} checked={checked} disabled={disabled} onCheckedChange={onChange} />}
    </Field>
  );
}
