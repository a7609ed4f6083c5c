/** The calls of the columns: while they run, and how they ended. */
import { useEffect } from 'preact/hooks';
import type { PlaygroundBody } from '#core/contracts/playground.ts';
import type { RequestRow, RowPage } from '#core/contracts/rows.ts';
import { type ApiFailure, call } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';
import { keepAnswer } from '../../parts/record/open-record.ts';
import type { Run } from './run.ts';
import { type RawAnswer, runCall } from './run-call.ts';
import { loginSignal, markLatest, type PlaygroundState } from './state.ts';

const BEGINNING: Run = {
  phase: 'running',
  isStopped: false,
  requestId: null,
  status: 0,
  pieces: [],
  firstMs: null,
  totalMs: null,
  failure: null,
  row: null,
};
/** UTF-16 code units of a piece. */
const PIECE = 4_096;
/** Records are stored a moment after the answer; the gateway may hold them back for longer when the store is away. */
const FIRST_LOOK_MS = 200;
const LONGEST_WAIT_MS = 2_000;
const MOST_LOOKS = 150;
const COLUMNS = ['cost', 'prompt_tokens', 'completion_tokens', 'delay_ms', 'time_to_first_token'];

function withText(pieces: readonly string[], text: string): readonly string[] {
  const last = pieces.at(-1);
  return last === undefined || last.length > PIECE
    ? [...pieces, text]
    : [...pieces.slice(0, -1), last + text];
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Looks for the logged request until it is there; null: it does not come, or the log-in has ended. */
async function findRow(requestId: string, signal: AbortSignal): Promise<RequestRow | null> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    await wait(Math.min(FIRST_LOOK_MS * 2 ** look, LONGEST_WAIT_MS));
    if (signal.aborted) return null;
    const query = { q: `id:"${requestId}"`, columns: COLUMNS, limit: 1 };
    // One look that fails is followed by the next.
    const page = await call<RowPage>('POST', '/v1/request/rows', query, signal).catch(() => null);
    if (page?.rows[0] !== undefined) return page.rows[0];
  }
  return null;
}

type Change = (changes: Partial<Run> | ((run: Run) => Partial<Run>)) => void;

/** Makes a call to its end. Returns the id of the request; null: none was made, or nobody may see it any more. */
async function follow(
  body: PlaygroundBody,
  change: Change,
  { signal, login }: { signal: AbortSignal; login: AbortSignal },
): Promise<string | null> {
  const begun = performance.now();
  const answer: RawAnswer = { text: '', isStream: false };
  const elapsed = () => Math.round(performance.now() - begun);
  const seen: { requestId: string | null; status: number } = { requestId: null, status: 0 };
  let failure: ApiFailure | null = null;
  try {
    const listener = {
      onHead: (head: typeof seen) => change(Object.assign(seen, head)),
      onFirst: () => change({ firstMs: elapsed() }),
      onText: (text: string) => change(({ pieces }) => ({ pieces: withText(pieces, text) })),
    };
    await runCall(body, answer, listener, signal);
  } catch (error) {
    if (!signal.aborted) failure = toFailure(error);
  }
  if (login.aborted) return null;
  // The text is with the worker from now on.
  const ended = { pieces: [], totalMs: elapsed(), isStopped: signal.aborted, failure };
  const { requestId, status } = seen;
  if (requestId === null) {
    change({ ...ended, phase: 'failed' });
    return null;
  }
  const unkept = await keepAnswer(requestId, { ...answer, status }).then(() => null, toFailure);
  change({ ...ended, failure: failure ?? unkept, phase: unkept === null ? 'kept' : 'failed' });
  return requestId;
}

export type Runs = {
  /** By the column's key. */
  of: (key: string) => Run | null;
  start: (key: string, body: PlaygroundBody) => void;
  stop: (key: string) => void;
};

/** Returns the runs of a state. Those under way are stopped when the page goes; what came of them stays. */
export function useRuns(state: PlaygroundState): Runs {
  const { runs, controllers } = state;
  useEffect(
    () => () => {
      for (const controller of controllers.values()) controller.abort();
    },
    [controllers],
  );
  const start: Runs['start'] = (key, body) => {
    controllers.get(key)?.abort();
    const controller = new AbortController();
    controllers.set(key, controller);
    markLatest(state);
    const login = loginSignal();
    const change: Change = (changes) => {
      // A run that another one has replaced says no more.
      if (controllers.get(key) !== controller) return;
      const run = runs.value[key] ?? BEGINNING;
      const next = typeof changes === 'function' ? changes(run) : changes;
      runs.value = { ...runs.value, [key]: { ...run, ...next } };
    };
    change(() => BEGINNING);
    void follow(body, change, { signal: controller.signal, login }).then(async (requestId) => {
      if (requestId === null) return;
      const row = await findRow(requestId, login);
      change({ row });
    });
  };
  const now = runs.value;
  return { of: (key) => now[key] ?? null, start, stop: (key) => controllers.get(key)?.abort() };
}
