import { suggestScheme } from '@creel/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Check, ShieldAlert, ShieldQuestion } from 'lucide-react';
import { useState } from 'react';
import { withRequestId } from '../../api/body-queries.ts';
import { client } from '../../api/client.ts';
import { useSigning } from '../../api/queries.ts';
import { queryKeys } from '../../api/query-client.ts';
import type { ListedRequest, RequestPartProps } from '../../api/request-list.ts';
import { InlineButton } from '../../ui/button.tsx';
import { COMMAND_IDS, runCommand } from '../../ui/commands.ts';

const MINUTE_MS = 60_000;

/** Whether the signature of a request is valid. The server checks the whole body and also returns it. */
const signatureQuery = (uid: string, request: ListedRequest) =>
  queryOptions({
    queryKey: queryKeys.signature(uid, request.index),
    queryFn: async ({ signal }) =>
      (await withRequestId(uid, request, (id) => client.call('getRequest', { params: { uid, id } }, signal))).signature,
    gcTime: MINUTE_MS,
    // Another tab can replace the secret, which no live message reports.
    refetchOnWindowFocus: 'always',
  });

/** The check reads the whole request, so it runs by itself only up to this size. */
const MAX_CHECKED_BYTES = 1024 * 1024;

const LINK = 'font-sans text-accent underline-offset-2 hover:underline';
const FACT = 'inline-flex min-w-0 items-start gap-1 font-sans [&_svg]:mt-0.5 [&_svg]:size-3.5 [&_svg]:shrink-0';

/** Whether the signature of a request is valid, or why not. Announced after the user has asked for it or set a secret. */
export function SignatureFact(props: RequestPartProps) {
  const signing = useSigning(props.uid);
  const [firstSigning] = useState(signing);
  const [asked, setAsked] = useState(false);
  return (
    <span role={asked || signing !== firstSigning ? 'status' : undefined} className="contents">
      <Verdict {...props} asked={asked} onAsk={() => setAsked(true)} />
    </span>
  );
}

interface VerdictProps extends RequestPartProps {
  /** True if a large request is checked, too. */
  readonly asked: boolean;
  readonly onAsk: () => void;
}

function Verdict({ uid, request, asked, onAsk }: VerdictProps) {
  const signing = useSigning(uid);
  const isChecked = signing !== null && (asked || request.size <= MAX_CHECKED_BYTES);
  const { data: signature, isError } = useQuery({ ...signatureQuery(uid, request), enabled: isChecked });
  const isSigned = suggestScheme(request.rawHeaders) !== undefined;
  if (signing === null) {
    return isSigned ? (
      <button type="button" className={LINK} onClick={() => runCommand(COMMAND_IDS.signing)}>
        Check the signature…
      </button>
    ) : null;
  }
  if (!isChecked) {
    return (
      <button type="button" className={LINK} onClick={onAsk}>
        Check the signature
      </button>
    );
  }
  if (isError) return <span className="font-sans">The signature could not be checked.</span>;
  if (signature === undefined || signature === null) return null;
  const { verdict, reason } = signature;
  if (verdict === 'valid') {
    return (
      <span className={`${FACT} text-ok`}>
        <Check aria-hidden /> Signature valid
      </span>
    );
  }
  if (verdict === 'missing') {
    return (
      <span className={FACT}>
        <ShieldQuestion aria-hidden />
        <span className="min-w-0 wrap-anywhere">
          No signature: {reason} {isSigned ? <ChangeSecret /> : null}
        </span>
      </span>
    );
  }
  return (
    <span className={`${FACT} text-bad`}>
      <ShieldAlert aria-hidden />
      <span className="min-w-0 wrap-anywhere">
        Signature invalid: {reason} <ChangeSecret />
      </span>
    </span>
  );
}

/** The secret or its scheme is the most frequent mistake. */
function ChangeSecret() {
  return (
    <InlineButton className="text-accent" onClick={() => runCommand(COMMAND_IDS.signing)}>
      Change the secret…
    </InlineButton>
  );
}
