import { signingSchemeSchema, signingSecretSchema, suggestScheme } from '@creel/contract';
import type { SigningScheme, SigningSecret, SuggestedScheme } from '@creel/contract';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, errorMessage } from '../../api/client.ts';
import { patchEndpoint, useSigning } from '../../api/queries.ts';
import { queryClient, queryKeys } from '../../api/query-client.ts';
import { rowOf } from '../../api/request-list.ts';
import type { RequestList } from '../../api/request-list.ts';
import { readList } from '../../api/list-cache.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmButton, Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/feedback.tsx';
import { Field, Select, TextField } from '../../ui/field.tsx';
import { fieldErrors, Form, SubmitButton, useFormErrors } from '../../ui/form.tsx';
import type { FieldErrors } from '../../ui/form.tsx';

const SCHEMES: Readonly<Record<SigningScheme, { readonly name: string; readonly hint: string }>> = {
  stripe: { name: 'Stripe', hint: 'The signing secret of the webhook endpoint in Stripe. It begins with whsec_.' },
  github: { name: 'GitHub', hint: 'The secret that you entered in the settings of the webhook.' },
  shopify: {
    name: 'Shopify',
    hint: 'The client secret of the app, or the secret shown below the webhooks of the shop.',
  },
  slack: { name: 'Slack', hint: 'The signing secret in the basic information of the app.' },
  'standard-webhooks': { name: 'Standard Webhooks', hint: 'Base64, with or without whsec_. Also used by Svix.' },
  'hmac-sha256': { name: 'HMAC-SHA256', hint: 'The key of an HMAC-SHA256 of the body.' },
};

/** Number of requests from which a scheme is suggested. */
const MAX_READ_ROWS = 50;

/** The scheme of the opened request, because one endpoint can have several senders, else of the newest signed one. */
function suggestionOf(list: RequestList, opened: number | undefined): SuggestedScheme | undefined {
  const first = opened === undefined ? undefined : rowOf(list, opened);
  const rows = first === undefined ? list.rows : [first, ...list.rows];
  for (const { rawHeaders } of rows.slice(0, MAX_READ_ROWS)) {
    const suggested = suggestScheme(rawHeaders);
    if (suggested !== undefined) return suggested;
  }
  return undefined;
}

interface SigningDialogProps {
  readonly uid: string;
  /** Index of the request that is open in the details. */
  readonly opened: number | undefined;
  readonly onClose: () => void;
}

/** Sets, replaces or removes the secret that the sender signs with. The secret is never shown again. */
export function SigningDialog({ uid, opened, onClose }: SigningDialogProps) {
  const present = useSigning(uid)?.scheme;
  const [suggested] = useState(() => suggestionOf(readList(uid), opened));
  const [scheme, setScheme] = useState<SigningScheme>(present ?? suggested?.scheme ?? 'stripe');
  const [secret, setSecret] = useState('');
  const [plain, setPlain] = useState<Plain>({ header: '', encoding: 'hex', prefix: '', ...suggested });
  const { ref, errors, failure, refuse, fail, clear } = useFormErrors({ scheme, secret, ...plain });
  const set = useSetSecret(uid);
  const remove = useDeleteSecret(uid);
  const outcome = {
    onSuccess: onClose,
    onError: (error: Error) => fail(error, errorMessage(error, 'The secret could not be stored. Please try again.')),
  };
  const onSubmit = (): void => {
    const wanted = { scheme, secret, ...(scheme === 'hmac-sha256' ? plain : {}) };
    const found = fieldErrors(signingSecretSchema, wanted);
    if (Object.keys(found).length > 0) return refuse(found);
    clear();
    set.mutate(wanted, outcome);
  };
  return (
    <Dialog
      onClose={onClose}
      title="Signing secret"
      description="With the sender's secret, Creel checks the signature of each request and can sign what you send again. It is stored encrypted and never shown again."
    >
      <Form ref={ref} failure={failure} onSubmit={onSubmit}>
        {present === undefined ? null : (
          <Notice tone="good">
            A secret is set ({SCHEMES[present].name}). A new one replaces it. Without one, destinations with “Sign
            again” send nothing.
          </Notice>
        )}
        <Field
          label="Scheme"
          hint={suggested?.scheme === scheme ? 'Suggested, because captured requests are signed this way.' : undefined}
        >
          {(control) => (
            <Select
              {...control}
              value={scheme}
              onChange={({ target }) => {
                setScheme(signingSchemeSchema.parse(target.value));
                clear();
              }}
            >
              {signingSchemeSchema.options.map((value) => (
                <option key={value} value={value}>
                  {SCHEMES[value].name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {scheme === 'hmac-sha256' ? <PlainFields values={plain} errors={errors} onChange={setPlain} /> : null}
        <TextField
          label="Secret"
          error={errors['secret']}
          hint={SCHEMES[scheme].hint}
          data-first-focus
          isData
          data-unsaved={secret !== '' || undefined}
          type="password"
          value={secret}
          onChange={({ target }) => setSecret(target.value)}
        />
        <div className="flex flex-wrap justify-end gap-2">
          {present === undefined ? null : (
            <ConfirmButton
              variant="danger-ghost"
              className="mr-auto"
              busy={remove.isPending}
              confirm={{
                title: 'Remove signing secret',
                description:
                  'Creel does not show it again. Without it, signatures are not checked, and destinations with “Sign again” send nothing.',
                confirmLabel: 'Remove',
                onConfirm: () => remove.mutate(undefined, outcome),
              }}
            >
              Remove
            </ConfirmButton>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <SubmitButton
            isPending={set.isPending}
            label={present === undefined ? 'Save' : 'Replace'}
            pendingLabel="Saving…"
          />
        </div>
      </Form>
    </Dialog>
  );
}

/** How a plain HMAC is written into its header. */
type Plain = Required<Pick<SigningSecret, 'header' | 'encoding' | 'prefix'>>;

interface PlainFieldsProps {
  readonly values: Plain;
  readonly errors: FieldErrors;
  readonly onChange: (values: Plain) => void;
}

function PlainFields({ values, errors, onChange }: PlainFieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-x-3 gap-y-4">
      <TextField
        label="Header"
        error={errors['header']}
        className="col-span-2"
        isData
        placeholder="X-Signature"
        value={values.header}
        onChange={({ target }) => onChange({ ...values, header: target.value.trim() })}
      />
      <Field label="Encoding">
        {(control) => (
          <Select
            {...control}
            value={values.encoding}
            onChange={({ target }) => onChange({ ...values, encoding: target.value === 'base64' ? 'base64' : 'hex' })}
          >
            <option>hex</option>
            <option>base64</option>
          </Select>
        )}
      </Field>
      <TextField
        label="Prefix (optional)"
        error={errors['prefix']}
        isData
        placeholder="sha256="
        value={values.prefix}
        onChange={({ target }) => onChange({ ...values, prefix: target.value.trim() })}
      />
    </div>
  );
}

/** A changed secret changes every verdict. */
function showSigning(uid: string, secret: SigningSecret | undefined): void {
  patchEndpoint(uid, { signing: secret === undefined ? null : { scheme: secret.scheme } });
  void queryClient.resetQueries({ queryKey: queryKeys.signatures(uid) });
}

function useSetSecret(uid: string) {
  return useMutation({
    mutationFn: (body: SigningSecret) => client.call('setSigningSecret', { params: { uid }, body }),
    onSuccess: (_, body) => showSigning(uid, body),
    // Drops the secret from memory after the call.
    gcTime: 0,
  });
}

function useDeleteSecret(uid: string) {
  return useMutation({
    mutationFn: () => client.call('deleteSigningSecret', { params: { uid } }),
    onSuccess: () => showSigning(uid, undefined),
  });
}
