/** The dead letters: log entries that could not be stored. */
import type { DeadLetterPage, DeadLetterSummary } from '#core/contracts/dead-letter.ts';
import { call } from '../../client/call.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { bytes, NOTHING } from '../../parts/formats/numbers.ts';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { Letter } from './letter.tsx';
import { RetryAll } from './retry-all.tsx';

const PATH = '/v1/dead-letter';

function columns(addressOf: (changes: Record<string, string | null>) => string): Column<DeadLetterSummary>[] {
  return [
    {
      name: 'time',
      title: 'Time',
      cell: ({ id, created_at }) => (
        <a href={addressOf({ letter: id })}>
          <Moment at={created_at} /> <span class="unseen">letter {id}</span>
        </a>
      ),
    },
    {
      name: 'reason',
      title: 'Reason',
      cell: ({ reason }) => (
        <a
          class="break clamped"
          href={addressOf({ reason, letter: null })}
          title="Only letters with this reason"
        >
          <Hostile text={reason} />
        </a>
      ),
    },
    {
      name: 'request',
      title: 'Request id',
      cell: ({ request_id }) => (
        <span class="break">{request_id === null ? NOTHING : <Hostile text={request_id} />}</span>
      ),
    },
    { name: 'size', title: 'Size', isNumber: true, cell: (letter) => bytes(letter.bytes) },
    {
      name: 'excerpt',
      title: 'Request begins',
      cell: ({ excerpt }) => (
        <code class="break clamped">
          {excerpt.encoding === 'base64' ? 'No text' : <Hostile text={excerpt.text} />}
          {excerpt.encoding !== 'base64' && excerpt.is_cut && '…'}
        </code>
      ),
    },
  ];
}

/** The letters with a reason, or all (''). */
function useLetters(reason: string) {
  return usePages(`dead letters ${reason}`, async (after, signal) => {
    const query = new URLSearchParams({ ...(reason !== '' && { reason }), ...(after !== null && { after }) });
    const { letters: rows, next } = await call<DeadLetterPage>('GET', `${PATH}?${query}`, undefined, signal);
    return { rows, next };
  });
}

const NONE = <p>There are no dead letters: every log entry has been stored.</p>;
const NONE_OF_REASON = <p>No letter has this reason any more.</p>;

function ReasonFilter({ reason }: { reason: string }) {
  const { set } = useAddress();
  return (
    <div class="filters">
      <span class="break">
        Only <Hostile text={reason} />
      </span>
      <button type="button" onClick={() => set({ reason: null })}>
        Show all reasons
      </button>
      <button type="button" disabled={!may('write')} onClick={() => set({ do: 'retry-all' })}>
        Retry all of this reason
      </button>
    </div>
  );
}

/** The page /dead-letters. */
export function DeadLetters() {
  const { path, query, set } = useAddress();
  const { reason = '' } = query;
  const { data, rows, failure, isLoading, reload, more } = useLetters(reason);
  const addressOf = (changes: Record<string, string | null>) => href(path, { ...query, ...changes });
  return (
    <>
      <header class="page-head">
        <h1>Dead letters</h1>
        {reason === '' && rows.length > 0 && (
          <button type="button" disabled={!may('write')} onClick={() => set({ do: 'retry-all' })}>
            Retry all letters
          </button>
        )}
      </header>
      <p class="muted">
        Log entries that could not be stored are kept with the reason. Retry them once the cause is mended.
      </p>
      <MissingScope scope="write" what="Retrying and dropping letters" />
      {reason !== '' && <ReasonFilter reason={reason} />}
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <Table
          caption="Dead letters"
          columns={columns(addressOf)}
          rows={rows}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty={reason === '' ? NONE : NONE_OF_REASON}
        />
      )}
      <MoreButton more={more} />
      {query.letter !== undefined && (
        <Letter id={query.letter} onClose={() => set({ letter: null, do: null })} onChanged={reload} />
      )}
      {query.do === 'retry-all' && may('write') && (
        <RetryAll reason={reason} onClose={() => set({ do: null })} onChanged={reload} />
      )}
    </>
  );
}
