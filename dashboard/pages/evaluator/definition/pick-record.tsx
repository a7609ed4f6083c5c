/** Picks the record for a try-out: by its id, or of the newest requests. */
import { useState } from 'preact/hooks';
import { call } from '../../../client/call.ts';
import { useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { shortTime } from '../../../parts/formats/times.ts';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { writeMarks } from '../../../parts/text/split-hostile.ts';
import type { Picked } from './picked.ts';

type Row = { request_id: string; request_created_at: string; preview_in: string | null };

const NEWEST = 20;
const PREVIEW_LENGTH = 60;

function useNewest() {
  return useResource('newest requests', (signal) =>
    call<{ rows: Row[] }>(
      'POST',
      '/v1/request/rows',
      { q: 'status:200..300', limit: NEWEST, columns: ['request_created_at', 'preview_in'] },
      signal,
    ),
  );
}

function optionText({ request_id, request_created_at, preview_in }: Row): string {
  const preview = writeMarks((preview_in ?? request_id).slice(0, PREVIEW_LENGTH).toWellFormed());
  return `${shortTime(request_created_at, Date.now())}  ${preview}`;
}

function ById({ picked }: { picked: Picked }) {
  const [text, setText] = useState(picked.id);
  const use = (event: Event) => {
    event.preventDefault();
    picked.pick(text);
  };
  return (
    <form class="evaluator-pick" onSubmit={use}>
      <label>
        Request id{' '}
        <input
          type="text"
          class="mono"
          autoComplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Use</button>
    </form>
  );
}

/** Shows both ways, and what was picked. */
export function PickRecord({ picked }: { picked: Picked }) {
  const { data, failure, reload } = useNewest();
  const rows = data?.rows ?? [];
  const isListed = rows.some(({ request_id }) => request_id === picked.id);
  return (
    <>
      <label class="evaluator-newest">
        Newest requests{' '}
        <select
          value={isListed ? picked.id : ''}
          onChange={(event) => picked.pick(event.currentTarget.value)}
        >
          <option value="">{rows.length === 0 ? 'None is logged yet' : 'Pick one'}</option>
          {rows.map((row) => (
            <option key={row.request_id} value={row.request_id}>
              {optionText(row)}
            </option>
          ))}
        </select>
      </label>
      <FailureNotice failure={failure} retry={reload} />
      <ById key={picked.id} picked={picked} />
      <FailureNotice failure={picked.resource.failure} retry={picked.resource.reload} />
      {picked.isUnknown && (
        <p class="bad" role="alert">
          There is no request <Hostile text={picked.id} />.
        </p>
      )}
    </>
  );
}
