/** The evaluations of an evaluator: outcome, score and reasoning of each request, a page at a time. */

import { call } from '../../../client/call.ts';
import type { Evaluator } from '../../../client/evaluators.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { useRowKeys } from '../../../parts/table/row-keys.ts';
import { Table } from '../../../parts/table/table.tsx';
import { attempt } from '../../../parts/toast/toast.tsx';
import { href, useAddress } from '../../../state/address.ts';
import { may } from '../../../state/me.ts';
import { evaluatorAddress } from '../address.ts';
import { evaluationColumns } from './columns.tsx';
import { EvaluationDialog } from './evaluation-dialog.tsx';
import { Filters } from './filters.tsx';
import { PAGE_SIZE, readFilters, retryBody } from './query.ts';
import { useEvaluations } from './use-evaluations.ts';

/** Tries all failed or cancelled evaluations again that pass the filters. */
function RetryAll({ evaluator, onDone }: { evaluator: Evaluator; onDone: () => void }) {
  const { query } = useAddress();
  const body = retryBody(readFilters(query));
  if (body === null || !may('write')) return null;
  const retry = () =>
    attempt(async () => {
      await call('POST', `/v1/evaluator/${evaluator.id}/retry`, body);
      onDone();
    }, 'They are tried again');
  return (
    <button type="button" onClick={retry}>
      Retry all that are {body.states.join(' or ')}
    </button>
  );
}

function Pages({ evaluator, at, hasMore }: { evaluator: Evaluator; at: number; hasMore: boolean }) {
  const { query } = useAddress();
  const link = (offset: number, label: string) => (
    <a
      class="button"
      href={evaluatorAddress(evaluator.id, { ...query, e: null, at: offset > 0 ? String(offset) : null })}
    >
      {label}
    </a>
  );
  if (at === 0 && !hasMore) return null;
  return (
    <nav class="evaluators-pages" aria-label="Pages of evaluations">
      {at > 0 && link(Math.max(0, at - PAGE_SIZE), 'Newer')}
      <span>from {at + 1}</span>
      {hasMore && link(at + PAGE_SIZE, 'Older')}
    </nav>
  );
}

/** Shows the list; `e=` in the address opens one. */
export function Evaluations({ evaluator }: { evaluator: Evaluator }) {
  const { path, query, set } = useAddress();
  const box = useRowKeys('Evaluations', 'evaluation');
  const filters = readFilters(query);
  const { data, failure, isLoading, reload } = useEvaluations(evaluator.id, filters);
  const rows = (data ?? []).slice(0, PAGE_SIZE);
  const addressOf = (id: string) => href(path, { ...query, e: id });
  return (
    <>
      <Filters evaluator={evaluator}>
        <RetryAll evaluator={evaluator} onDone={reload} />
      </Filters>
      <FailureNotice failure={failure} retry={reload} />
      <div ref={box}>
        {data !== null && (
          <Table
            caption="Evaluations, the newest first"
            columns={evaluationColumns(addressOf)}
            rows={rows}
            keyOf={({ id }) => id}
            isLoading={isLoading}
            empty="No evaluation passes these filters."
          />
        )}
        {data === null && isLoading && <p class="muted">Loading the evaluations …</p>}
      </div>
      <Pages evaluator={evaluator} at={filters.at} hasMore={(data ?? []).length > PAGE_SIZE} />
      {query.e !== undefined && query.e !== '' && (
        <EvaluationDialog id={query.e} onClose={() => set({ e: null })} onChange={reload} />
      )}
    </>
  );
}
