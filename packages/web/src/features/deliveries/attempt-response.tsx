import type { DeliveryAttempt } from '@creel/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { readable } from '../../bodies/encoding.ts';
import { FieldTable } from '../../bodies/field-table.tsx';
import { ResponseBody } from '../../bodies/response-body.tsx';
import { responseBytes } from '../../bodies/response.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Tabs, TabPanel } from '../../ui/tabs.tsx';
import { responseOf, responseViewQuery } from './delivery-queries.ts';

interface AttemptResponseProps {
  readonly uid: string;
  readonly index: number;
  readonly attempt: DeliveryAttempt;
}

const CUT = 'Cut at 16 KiB: the destination sent more.';

/** The stored beginning of a destination's response, and its headers as received. */
export function AttemptResponse({ uid, index, attempt }: AttemptResponseProps) {
  const [part, setPart] = useState<'body' | 'raw' | 'headers'>('body');
  const { data: view, error } = useQuery(responseViewQuery(uid, index, attempt));
  const size = useMemo(() => responseBytes(responseOf(attempt)).length, [attempt]);
  const fields = attempt.responseHeaders.map(({ key, value }): [string, string] => [key, readable(value)]);
  const copied = part === 'headers' ? fields.map((field) => field.join(': ')).join('\n') : view?.text;
  const tabs = [
    { value: 'body', label: 'Body' },
    ...(view?.json === undefined ? [] : [{ value: 'raw', label: 'Raw' } as const]),
    { value: 'headers', label: 'Headers', note: fields.length },
  ] as const;
  return (
    <Tabs
      label="Response of the destination"
      value={part}
      onValueChange={setPart}
      tabs={tabs}
      className="relative mx-4 overflow-clip rounded-md border border-line"
      listClassName="h-9 border-b border-line px-2 pr-12"
    >
      {copied === undefined || copied === '' ? null : (
        <CopyButton text={copied} label="Copy the response" className="absolute top-1.5 right-2" />
      )}
      <TabPanel value={part} className="flex max-h-[400px] flex-col">
        {part === 'headers' ? (
          <div className="relative min-h-0 overflow-auto">
            <FieldTable label="Response headers" nameTitle="Header" fields={fields} />
          </div>
        ) : (
          <ResponseBody
            cut={attempt.responseTruncated ? CUT : undefined}
            size={size}
            view={view}
            error={error}
            asText={part === 'raw'}
          />
        )}
      </TabPanel>
    </Tabs>
  );
}
