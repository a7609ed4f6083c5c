/** The page /playground: the same messages to several models, side by side. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { PromptVersionJson } from '#core/contracts/prompt.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { loadVersion } from '../../parts/prompts/load.ts';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { addressNow, go, href, useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/me.ts';
import { ColumnCard, TalkFields } from './column-card.tsx';
import { type Column, copyColumn, type Draft, MOST_COLUMNS, PATHS } from './draft.ts';
import { useModels } from './models.tsx';
import { openState, PATH, type PlaygroundState, startAnew } from './state.ts';
import { type ChangeDraft, useDraft } from './use-draft.ts';
import { useRuns } from './use-runs.ts';
import { writeCall } from './write-call.ts';

/** Columns beside which there is room for the messages. */
const FEW = 2;

/** Starts calls, and says which columns cannot be run as they are. */
function useCalls(state: PlaygroundState, draft: Draft) {
  const runs = useRuns(state);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  /** Null: the page has gone. */
  const columns = useRef<readonly Column[] | null>(draft.columns);
  useLayoutEffect(() => {
    columns.current = draft.columns;
    return () => {
      columns.current = null;
    };
  }, [draft.columns]);
  const run = async (column: Column) => {
    if (!may('gateway')) return;
    try {
      const versionId = column.prompt?.versionId ?? '';
      const version: Pick<PromptVersionJson, 'variables'> =
        versionId === '' ? { variables: [] } : await loadVersion(versionId);
      // A call costs: none is made for what went while the version was loaded.
      if (!columns.current?.some(({ key }) => key === column.key)) return;
      const call = writeCall(draft, column, version.variables);
      setFaults(({ [column.key]: _, ...others }) => others);
      runs.start(column.key, call);
    } catch (error) {
      setFaults((before) => ({ ...before, [column.key]: (error as Error).message }));
    }
  };
  return { runs, run, faultOf: (key: string) => faults[key] ?? null };
}

function Columns({
  draft,
  change,
  calls,
}: {
  draft: Draft;
  change: ChangeDraft;
  calls: ReturnType<typeof useCalls>;
}) {
  const { list, priceOf } = useModels();
  const { columns } = draft;
  const set = (index: number, changes: Partial<Column>) =>
    change((now) => ({ ...now, columns: now.columns.with(index, { ...now.columns[index]!, ...changes }) }));
  return (
    <div class="playground-columns">
      {list}
      {columns.map((column, index) => (
        <ColumnCard
          key={column.key}
          draft={draft}
          column={column}
          index={index}
          run={calls.runs.of(column.key)}
          fault={calls.faultOf(column.key)}
          price={priceOf(column.model)}
          onChange={(changes) => set(index, changes)}
          onRun={() => calls.run(column)}
          onStop={() => calls.runs.stop(column.key)}
          onRemove={
            columns.length === 1
              ? null
              : () => {
                  calls.runs.stop(column.key);
                  change((now) => ({ ...now, columns: now.columns.toSpliced(index, 1) }));
                }
          }
        />
      ))}
    </div>
  );
}

type WorkbenchProps = { state: PlaygroundState; draft: Draft; change: ChangeDraft; onAnew: () => void };

function Workbench({ state, draft, change, onAnew }: WorkbenchProps) {
  const calls = useCalls(state, draft);
  const { columns, from } = draft;
  const runAll = () => {
    for (const column of columns) void calls.run(column);
  };
  useKeys('Playground', { 'Mod+Enter': { what: 'Run all columns', run: runAll, whileTyping: true } });
  const ids = columns.flatMap(({ key }) => {
    const run = calls.runs.of(key);
    return run?.row ? [run.row.request_id] : [];
  });
  const compared = from === null || ids.length === MOST_COLUMNS ? ids : [from, ...ids];
  return (
    <>
      <div class="page-head">
        <h1>Playground</h1>
        <code class="muted">{PATHS[draft.dialect]}</code>
        {from !== null && (
          <span class="muted">
            Replays <a href={`/requests/${encodeURIComponent(from)}`}>a request</a>
          </span>
        )}
        {ids.length > 0 && compared.length > 1 && (
          <a class="button" href={href('/compare', { ids: compared.join(',') })}>
            Compare these
          </a>
        )}
        <button type="button" title="The way back leads to these columns again" onClick={onAnew}>
          Start anew
        </button>
        <button
          type="button"
          disabled={columns.length >= MOST_COLUMNS}
          onClick={() =>
            change((now) => ({
              ...now,
              columns: [...now.columns, copyColumn(now.dialect, now.columns.at(-1)!)],
            }))
          }
        >
          Add a column
        </button>
        <button type="button" class="primary" disabled={!may('gateway')} title="Ctrl+Enter" onClick={runAll}>
          Run all
        </button>
      </div>
      <MissingScope scope="gateway" what="Running calls" />
      <div class={columns.length > FEW ? 'playground playground-many' : 'playground'}>
        <section class="playground-talk" aria-label="Messages">
          <TalkFields
            dialect={draft.dialect}
            talk={draft.talk}
            onChange={(talk) => change((now) => ({ ...now, talk }))}
          />
        </section>
        <Columns draft={draft} change={change} calls={calls} />
      </div>
    </>
  );
}

function Loaded({ onAnew }: { onAnew: () => void }) {
  const { query } = useAddress();
  const [state] = useState(() => openState(query));
  const change = useDraft(state, query);
  const draft = state.draft.value;
  if (draft === null) return <p class="muted">Reading the request…</p>;
  return (
    <>
      <FailureNotice failure={state.failure} />
      <Workbench state={state} draft={draft} change={change} onAnew={onAnew} />
    </>
  );
}

/** Is made anew when the history leads to another entry of the same page. */
export function Playground() {
  const { url, path } = useLocation();
  const [entry, setEntry] = useState(0);
  const shown = useRef(url);
  // While the next page is fetched, this one is still there; the address is no longer its own.
  if (path === PATH) shown.current = url;
  useEffect(() => {
    const next = () => {
      if (addressNow().path === PATH) setEntry((before) => before + 1);
    };
    addEventListener('popstate', next);
    return () => removeEventListener('popstate', next);
  }, []);
  const anew = () => {
    startAnew();
    go(PATH);
    // The router may have had this address all the time.
    setEntry((before) => before + 1);
  };
  return <Loaded key={`${entry} ${shown.current}`} onAnew={anew} />;
}
