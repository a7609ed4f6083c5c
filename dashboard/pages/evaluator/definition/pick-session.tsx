/** Picks the session for a try-out, of the newest. */
import type { SessionRow } from '#core/contracts/session.ts';
import { call } from '../../../client/call.ts';
import { useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { plural } from '../../../parts/formats/numbers.ts';
import { shortTime } from '../../../parts/formats/times.ts';
import { writeMarks } from '../../../parts/text/split-hostile.ts';

const NEWEST = 20;
const SHOWN_CHARACTERS = 60;

function optionText({
  session_id: id,
  session_name: name,
  created_at: at,
  total_requests: total,
}: SessionRow) {
  const title = writeMarks((name ?? id).slice(0, SHOWN_CHARACTERS).toWellFormed());
  return `${shortTime(at, Date.now())}  ${title}, ${plural(total, 'request')}`;
}

/** Shows the list. */
export function PickSession({ id, onPick }: { id: string; onPick: (id: string) => void }) {
  const { data, failure, reload } = useResource('newest sessions', (signal) =>
    call<SessionRow[]>('POST', '/v1/session/query', { limit: NEWEST }, signal),
  );
  const rows = data ?? [];
  return (
    <>
      <label class="evaluator-newest">
        Newest sessions{' '}
        <select value={id} onChange={(event) => onPick(event.currentTarget.value)}>
          <option value="">{rows.length === 0 ? 'None is logged yet' : 'Pick one'}</option>
          {rows.map((row) => (
            <option key={row.session_id} value={row.session_id}>
              {optionText(row)}
            </option>
          ))}
        </select>
      </label>
      <FailureNotice failure={failure} retry={reload} />
    </>
  );
}
