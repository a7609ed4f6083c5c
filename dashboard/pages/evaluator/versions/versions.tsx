/** The versions of an evaluator, and what changed between two of them. */
import { useMemo } from 'preact/hooks';
import { call } from '../../../client/call.ts';
import type { Evaluator, EvaluatorVersion } from '../../../client/evaluators.ts';
import { useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { fullTime, shortTime } from '../../../parts/formats/times.ts';
import { ROW_LINK, useRowKeys } from '../../../parts/table/row-keys.ts';
import { type Column, Table } from '../../../parts/table/table.tsx';
import { useAddress } from '../../../state/address.ts';
import { evaluatorAddress } from '../address.ts';
import { definitionText } from './definition-text.ts';
import { Difference } from './difference.tsx';

type Pair = { version: EvaluatorVersion; before: EvaluatorVersion | null };

/** Returns the version of the address with the one to compare it to: that of the address, else the one before it. */
function pairOf(
  versions: readonly EvaluatorVersion[],
  v: string | undefined,
  from: string | undefined,
): Pair | null {
  const find = (number: number) => versions.find(({ version }) => version === number) ?? null;
  const version = find(Number(v)) ?? versions[0];
  if (version === undefined) return null;
  return { version, before: find(Number(from)) ?? find(version.version - 1) };
}

function columnsOf(id: string, shown: number | null): Column<EvaluatorVersion>[] {
  return [
    {
      name: 'version',
      title: 'Version',
      cell: ({ version, is_current }) => (
        <>
          <a
            class={ROW_LINK}
            href={evaluatorAddress(id, { tab: 'versions', v: String(version) })}
            aria-current={version === shown ? 'true' : undefined}
          >
            Version {version}
          </a>{' '}
          {is_current && <span class="chip chip-good">Current</span>}
        </>
      ),
    },
    {
      name: 'created',
      title: 'Made',
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={fullTime(created_at)}>
          {shortTime(created_at, Date.now())}
        </time>
      ),
    },
    {
      name: 'more',
      title: 'See',
      cell: ({ version }) => (
        <span class="evaluator-links">
          <a href={evaluatorAddress(id, { tab: 'statistics', version: String(version) })}>Statistics</a>
          <a href={evaluatorAddress(id, { tab: 'evaluations', version: String(version) })}>Evaluations</a>
        </span>
      ),
    },
  ];
}

function From({ versions, pair }: { versions: readonly EvaluatorVersion[]; pair: Pair }) {
  const { set } = useAddress();
  const others = versions.filter(({ version }) => version !== pair.version.version);
  if (others.length === 0) return null;
  return (
    <label>
      Compared with{' '}
      <select
        value={pair.before?.version ?? ''}
        onChange={(event) => set({ from: event.currentTarget.value }, { replace: true })}
      >
        {pair.before === null && <option value="">nothing</option>}
        {others.map(({ version }) => (
          <option key={version} value={version}>
            version {version}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Shows the list, and beside it one version as it differs from another. */
export function Versions({ evaluator }: { evaluator: Evaluator }) {
  const { query } = useAddress();
  const box = useRowKeys('Versions', 'version');
  const { data, failure, isLoading, reload } = useResource(
    `evaluator-versions ${evaluator.id} ${evaluator.version}`,
    (signal) => call<EvaluatorVersion[]>('GET', `/v1/evaluator/${evaluator.id}/versions`, undefined, signal),
  );
  const versions = data ?? [];
  const pair = pairOf(versions, query.v, query.from);
  const columns = useMemo(
    () => columnsOf(evaluator.id, pair?.version.version ?? null),
    [evaluator.id, pair?.version.version],
  );
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <div ref={box} class="evaluator-versions">
        <div>
          <Table
            caption="Versions, the newest first"
            columns={columns}
            rows={versions}
            keyOf={({ version }) => String(version)}
            isLoading={isLoading}
          />
          <p class="muted">A version never changes, and each score says which version gave it.</p>
        </div>
        {pair !== null && (
          <section class="card" aria-label={`Version ${pair.version.version}`}>
            <header class="page-head">
              <h2>Version {pair.version.version}</h2>
              <From versions={versions} pair={pair} />
            </header>
            <Difference
              before={pair.before === null ? null : definitionText(pair.before)}
              after={definitionText(pair.version)}
            />
          </section>
        )}
      </div>
    </>
  );
}
