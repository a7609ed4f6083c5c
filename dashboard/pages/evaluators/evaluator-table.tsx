/** The table of evaluators. Facts of each are asked for on their own, and shown as they come. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import type { Evaluator, OnlineEvaluator, Run, Stats } from '../../client/evaluators.ts';
import { createGate } from '../../client/gate.ts';
import { recall, remember } from '../../client/recent.ts';
import { count, decimal, dollars, NOTHING, percent } from '../../parts/formats/numbers.ts';
import { fullTime, shortTime } from '../../parts/formats/times.ts';
import { ROW_LINK } from '../../parts/table/row-keys.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { evaluatorAddress } from '../evaluator/address.ts';
import { Distribution } from './distribution.tsx';
import { type Facts, kindOf, openRuns, sampling, standingOf } from './standing.ts';

/** Of the six connections that a browser has to one host. */
const gate = createGate(3);

async function readFacts(id: string, signal: AbortSignal): Promise<Facts> {
  const get = <T,>(rest: string) =>
    gate(() => call<T>('GET', `/v1/evaluator/${id}/${rest}`, undefined, signal), signal);
  const [stats, online, runs] = await Promise.all([
    get<Stats>('stats'),
    get<OnlineEvaluator[]>('onlineEvaluators'),
    get<Run[]>('runs'),
  ]);
  return { stats, online, runs };
}

/** Facts by evaluator; `failed` of those that could not be read. */
type KnownFacts = ReadonlyMap<string, Facts | 'failed'>;

function useFacts(evaluators: readonly Evaluator[]): KnownFacts {
  const [known, setKnown] = useState<KnownFacts>(new Map());
  const ids = evaluators.map(({ id }) => id).join();
  useEffect(() => {
    const controller = new AbortController();
    const note = (id: string, facts: Facts | 'failed') =>
      setKnown((before) => new Map([...before, [id, facts]]));
    for (const id of ids.split(',').filter((id) => id !== '')) {
      const key = `evaluator-facts ${id}`;
      const before = recall<Facts>(key);
      if (before !== null) note(id, before);
      readFacts(id, controller.signal).then(
        (facts) => {
          remember(key, facts);
          note(id, facts);
        },
        () => controller.signal.aborted || note(id, 'failed'),
      );
    }
    return () => controller.abort();
  }, [ids]);
  return known;
}

type Row = { evaluator: Evaluator; facts: Facts | null; isFailed: boolean };

function StandingCell({ evaluator, facts, isFailed }: Row) {
  const standing = standingOf(evaluator, facts);
  if (standing === null) return <span class="muted">{isFailed ? 'Not known' : '…'}</span>;
  return (
    <>
      <span class={standing.tone === null ? 'chip' : `chip chip-${standing.tone}`}>{standing.word}</span>
      {(evaluator.paused !== null || evaluator.waiting !== null) && (
        <p class="evaluators-why">
          <Hostile text={standing.why} />
        </p>
      )}
    </>
  );
}

function ScoresCell({ evaluator, facts }: Row) {
  if (facts === null) return NOTHING;
  const { scores, agreement } = facts.stats;
  if (scores.count === 0) return <span class="muted">No scores</span>;
  const isShare = evaluator.scoring_type === 'LLM-BOOLEAN';
  return (
    <a class="evaluators-scores" href={evaluatorAddress(evaluator.id, { tab: 'statistics' })}>
      <Distribution buckets={scores.distribution} />
      <span>
        {isShare ? `${percent(agreement.pass_rate?.value)} pass` : `mean ${decimal(scores.mean)}`}
        <span class="muted"> of {count(scores.count)}</span>
      </span>
    </a>
  );
}

function RunsCell({ evaluator, facts }: Row) {
  const open = openRuns(facts?.runs ?? []);
  if (open.length === 0) return NOTHING;
  return <a href={evaluatorAddress(evaluator.id, { tab: 'backfill' })}>{open.length} in progress</a>;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'name',
    title: 'Name',
    cell: ({ evaluator: { id, name } }) => (
      <a class={ROW_LINK} href={evaluatorAddress(id)}>
        <Hostile text={name} />
      </a>
    ),
  },
  { name: 'kind', title: 'Kind', cell: ({ evaluator }) => kindOf(evaluator.scoring_type) },
  { name: 'state', title: 'State', cell: (row) => <StandingCell {...row} /> },
  {
    name: 'version',
    title: 'Version',
    isNumber: true,
    cell: ({ evaluator: { id, version } }) => (
      <a href={evaluatorAddress(id, { tab: 'versions' })}>{version}</a>
    ),
  },
  {
    name: 'attached',
    title: 'Attached',
    isNumber: true,
    cell: ({ evaluator, facts }) =>
      facts === null || facts.online.length === 0 ? (
        NOTHING
      ) : (
        <a href={evaluatorAddress(evaluator.id, { tab: 'traffic' })}>{sampling(facts.online)}</a>
      ),
  },
  { name: 'runs', title: 'Runs', cell: (row) => <RunsCell {...row} /> },
  { name: 'scores', title: 'Scores', cell: (row) => <ScoresCell {...row} /> },
  {
    name: 'cost',
    title: 'Cost',
    isNumber: true,
    cell: ({ facts }) => dollars(facts?.stats.judge.cost),
  },
  {
    name: 'created',
    title: 'Created',
    cell: ({ evaluator: { created_at } }) => (
      <time dateTime={created_at} title={fullTime(created_at)}>
        {shortTime(created_at, Date.now())}
      </time>
    ),
  },
];

export type EvaluatorTableProps = {
  evaluators: readonly Evaluator[];
  isLoading: boolean;
  empty: ComponentChildren;
};

/** Shows evaluators; scores, cost and runs are those of the current version. */
export function EvaluatorTable({ evaluators, isLoading, empty }: EvaluatorTableProps) {
  const known = useFacts(evaluators);
  const rows = evaluators.map((evaluator): Row => {
    const facts = known.get(evaluator.id);
    const isFailed = facts === 'failed';
    return { evaluator, facts: isFailed ? null : (facts ?? null), isFailed };
  });
  return (
    <Table
      caption="Evaluators; scores and cost are those of the current version"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ evaluator }) => evaluator.id}
      isLoading={isLoading}
      empty={empty}
    />
  );
}
