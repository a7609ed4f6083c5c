/** The page /evaluators: all evaluators, a page at a time, each with what it does and how its scores lie. */
import { call } from '../../client/call.ts';
import type { Evaluator } from '../../client/evaluators.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { WithScope } from '../../parts/form/scope.tsx';
import { useRowKeys } from '../../parts/table/row-keys.ts';
import { href, useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/me.ts';
import { EvaluatorTable } from './evaluator-table.tsx';

/** Each row asks three more questions. */
const PAGE_SIZE = 25;

const KINDS = [
  ['New LLM judge', 'llm'],
  ['New Python evaluator', 'python'],
  ['New external evaluator', 'external'],
] as const;

function CreateLinks() {
  return (
    <WithScope scope="write" what="create evaluators">
      {KINDS.map(([label, kind], index) => (
        <a
          key={kind}
          class={index === 0 ? 'button primary' : 'button'}
          href={href('/evaluators/new', { kind })}
        >
          {label}
        </a>
      ))}
    </WithScope>
  );
}

function Search({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  return (
    <label class="evaluators-search">
      Name{' '}
      <input
        type="search"
        value={text}
        placeholder="A part of the name"
        onInput={(event) => onSearch(event.currentTarget.value)}
      />
    </label>
  );
}

function Pages({ at, total }: { at: number; total: number }) {
  const { query } = useAddress();
  if (total <= PAGE_SIZE) return null;
  const link = (page: number, label: string) => (
    <a class="button" href={href('/evaluators', { ...query, page: page === 0 ? null : String(page) })}>
      {label}
    </a>
  );
  return (
    <nav class="evaluators-pages" aria-label="Pages of evaluators">
      {at > 0 && link(at - 1, 'Newer')}
      <span>
        {at * PAGE_SIZE + 1}–{Math.min(total, (at + 1) * PAGE_SIZE)} of {total}
      </span>
      {(at + 1) * PAGE_SIZE < total && link(at + 1, 'Older')}
    </nav>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p>No evaluator has such a name.</p>;
  return (
    <>
      <h2>No evaluators yet</h2>
      <p>
        An evaluator grades logged answers: a judge model with a prompt, a Python function, or a service of
        your own. Try it out on a logged request first, then attach it to traffic or score history with it.
      </p>
    </>
  );
}

/** Shows the evaluators of the organization, the newest first. */
export function Evaluators() {
  const { query, set, go } = useAddress();
  const box = useRowKeys('Evaluators', 'evaluator');
  useKeys('Evaluators', {
    n: { what: 'New evaluator', run: () => may('write') && go('/evaluators/new') },
  });
  const { data, failure, isLoading, reload } = useResource('evaluators', (signal) =>
    call<Evaluator[]>('GET', '/v1/evaluator', undefined, signal),
  );
  const wanted = (query.name ?? '').toLowerCase();
  const found = (data ?? []).filter(({ name }) => name.toLowerCase().includes(wanted));
  const last = Math.max(0, Math.ceil(found.length / PAGE_SIZE) - 1);
  const at = Math.min(last, Math.max(0, Math.trunc(Number(query.page ?? 0)) || 0));
  return (
    <>
      <header class="page-head">
        <h1>Evaluators</h1>
        {(data ?? []).length > 0 && (
          <Search
            text={query.name ?? ''}
            onSearch={(name) => set({ name: name || null, page: null }, { replace: true })}
          />
        )}
        <CreateLinks />
      </header>
      <FailureNotice failure={failure} retry={reload} />
      <div ref={box}>
        {data !== null && (
          <EvaluatorTable
            evaluators={found.slice(at * PAGE_SIZE, (at + 1) * PAGE_SIZE)}
            isLoading={isLoading}
            empty={<Empty isFiltered={wanted !== ''} />}
          />
        )}
        {data === null && isLoading && <p class="muted">Loading evaluators …</p>}
      </div>
      <Pages at={at} total={found.length} />
    </>
  );
}
