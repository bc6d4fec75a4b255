import { ApiError, destinationCreateSchema, parseQuery } from '@creel/contract';
import type { Destination } from '@creel/contract';
import { useState } from 'react';
import { errorMessage } from '../../api/client.ts';
import { useSigning } from '../../api/queries.ts';
import { knownValuesOf } from '../../ui/query-completion.ts';
import { readList } from '../../api/list-cache.ts';
import { InlineButton } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';
import { TextField } from '../../ui/field.tsx';
import { SwitchRow } from '../../ui/switch.tsx';
import { fieldErrors, Form, FormButtons, useFormErrors } from '../../ui/form.tsx';
import { QueryField } from '../../ui/query-field.tsx';
import { completeUrl } from '../../ui/urls.ts';
import { useSaveDestination } from './delivery-queries.ts';

interface DestinationFormProps {
  readonly uid: string;
  /** `undefined` for a new one. */
  readonly destination: Destination | undefined;
  readonly onDone: () => void;
}

/** Adds or changes a destination. */
export function DestinationForm({ uid, destination, onDone }: DestinationFormProps) {
  const [url, setUrl] = useState(destination?.url ?? '');
  const [query, setQuery] = useState(destination?.query ?? '');
  const [appendPath, setAppendPath] = useState(destination?.appendPath ?? false);
  const [sign, setSign] = useState(destination?.sign ?? false);
  const { ref, errors, failure, refuse, fail, clear } = useFormErrors({ url, query, appendPath, sign });
  const save = useSaveDestination(uid, destination?.id);
  const hasSecret = useSigning(uid) !== null;
  const onSubmit = (): void => {
    const wanted = { url: completeUrl(url), query: query.trim(), appendPath, sign };
    const condition = parseQuery(wanted.query);
    const found = {
      ...fieldErrors(destinationCreateSchema, wanted),
      ...(condition.ok ? {} : { query: condition.sentence }),
    };
    if (Object.keys(found).length > 0) return refuse(found);
    clear();
    const onError = (error: Error): void => {
      // A target that is not allowed is a mistake in the URL.
      if (error instanceof ApiError && error.code === 'TARGET_NOT_ALLOWED') refuse({ url: error.sentence });
      else fail(error, errorMessage(error, 'The destination could not be stored. Please try again.'));
    };
    save.mutate(wanted, { onSuccess: onDone, onError });
  };
  return (
    <Form
      ref={ref}
      failure={failure}
      onSubmit={onSubmit}
      data-unsaved={url !== (destination?.url ?? '') || query !== (destination?.query ?? '') || undefined}
    >
      <TextField
        label="URL"
        error={errors['url']}
        hint="The server must be able to reach it. For a program on your own machine, use “To localhost”."
        data-first-focus
        isData
        inputMode="url"
        placeholder="https://api.example.com/webhooks"
        value={url}
        onChange={({ target }) => setUrl(target.value)}
      />
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">Condition (optional)</span>
        <QueryField
          label="Condition"
          placeholder="All captures, or for example event:invoice.*"
          query={destination?.query ?? ''}
          onQuery={() => undefined}
          onText={setQuery}
          showsMatches={false}
          error={errors['query']}
          known={() => knownValuesOf(readList(uid).rows)}
        />
      </div>
      <SwitchRow
        label="Append the captured path and query"
        description="A capture at …/orders?a=1 goes to the URL followed by /orders?a=1."
        checked={appendPath}
        onCheckedChange={setAppendPath}
      />
      <SwitchRow
        label="Sign again"
        description={
          hasSecret ? (
            'Signs each attempt with the time at which it is sent, so that a late one is not rejected as too old.'
          ) : (
            <>
              This endpoint has no signing secret.{' '}
              <InlineButton className="text-accent" onClick={() => runCommand(COMMAND_IDS.signing)}>
                Set one
              </InlineButton>
            </>
          )
        }
        error={errors['sign']}
        checked={sign}
        disabled={!hasSecret && !sign}
        onCheckedChange={setSign}
      />
      <FormButtons
        isPending={save.isPending}
        label={destination === undefined ? 'Add destination' : 'Save'}
        pendingLabel="Saving…"
        onCancel={onDone}
        cancelLabel="Back"
      />
    </Form>
  );
}
