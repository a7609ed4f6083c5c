/** Tries the form out on a record, before anything is saved. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isJudgeType } from '#core/evaluations/mod.ts';
import { type ApiFailure, call } from '../../../client/call.ts';
import type { Trial } from '../../../client/evaluators.ts';
import { toFailure } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { useKeys } from '../../../state/keys.ts';
import { may } from '../../../state/me.ts';
import { type Draft, type Kind, type TestInput, trialOf } from './draft.ts';
import { PickRecord } from './pick-record.tsx';
import { PickSession } from './pick-session.tsx';
import type { Picked, PickedRecord } from './picked.ts';
import { TrialResult } from './trial-result.tsx';

type State =
  | { step: 'idle' }
  | { step: 'running' }
  | { step: 'refused'; failure: ApiFailure }
  | { step: 'ended'; trial: Trial; subject: string };

const inputOf = (record: PickedRecord): TestInput => ({
  inputBody: record.request_body,
  outputBody: record.response_body,
  inputs: record.inputs ?? {},
});

async function run(draft: Draft, input: TestInput, signal: AbortSignal): Promise<Trial> {
  const { path, body } = trialOf(draft, input);
  const result = await call<Trial['result']>('POST', path, body, signal);
  return { kind: draft.kind, result } as Trial;
}

/** What the evaluator gets of the record. */
function RecordView({ record }: { record: PickedRecord }) {
  return (
    <details class="evaluator-record">
      <summary>
        Request <Hostile text={record.request_id} /> · <Hostile text={record.model} /> · status{' '}
        {record.response_status}
      </summary>
      <h3>Request body</h3>
      <pre>
        <Hostile text={JSON.stringify(record.request_body, null, 2)} />
      </pre>
      <h3>Response body</h3>
      <pre>
        <Hostile text={JSON.stringify(record.response_body, null, 2)} />
      </pre>
      <a href={`/requests/${encodeURIComponent(record.request_id)}`}>Open the request</a>
    </details>
  );
}

const WAITS: Readonly<Record<Kind, string>> = {
  llm: 'The judge is asked …',
  python: 'The code runs …',
  external: 'The service is asked …',
};

export type TryOutProps = {
  draft: Draft;
  picked: Picked;
  /** Shows a refusal at its field; returns whether there is one. */
  onRefusal: (error: unknown) => boolean;
};

/** Shows the record, the button, and what came of it. */
export function TryOut({ draft, picked, onRefusal }: TryOutProps) {
  const [state, setState] = useState<State>({ step: 'idle' });
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const [sessionId, setSessionId] = useState('');
  const { record } = picked;
  const isOfSessions = draft.scope === 'session';
  const input = isOfSessions
    ? sessionId === ''
      ? null
      : { sessionId }
    : record === null
      ? null
      : inputOf(record);
  const isReady = input !== null && state.step !== 'running' && may('write');
  const start = async () => {
    if (!isReady || input === null) return;
    controller.current = new AbortController();
    const { signal } = controller.current;
    setState({ step: 'running' });
    try {
      const trial = await run(draft, input, signal);
      setState({ step: 'ended', trial, subject: isOfSessions ? sessionId : record!.request_id });
    } catch (error) {
      if (signal.aborted) return;
      onRefusal(error);
      setState({ step: 'refused', failure: toFailure(error) });
    }
  };
  useKeys('Try-out', { 'Mod+Enter': { what: 'Try it out', run: () => void start(), whileTyping: true } });
  if (draft.kind === 'llm' && !isJudgeType(draft.scoringType)) return null;
  return (
    <section class="card evaluator-try" aria-label="Try-out">
      <h2>Try it out</h2>
      <p class="muted">
        Scores one logged {isOfSessions ? 'session' : 'request'} as the form stands. Nothing is kept; a
        judge's call costs what it costs.
      </p>
      {isOfSessions ? <PickSession id={sessionId} onPick={setSessionId} /> : <PickRecord picked={picked} />}
      {!isOfSessions && record !== null && <RecordView record={record} />}
      <p>
        <button type="button" class="primary" disabled={!isReady} onClick={start}>
          Try it out <kbd>Ctrl Enter</kbd>
        </button>
      </p>
      <div aria-live="polite">
        {state.step === 'running' && <p>{WAITS[draft.kind]}</p>}
        {state.step === 'refused' && <FailureNotice failure={state.failure} />}
        {state.step === 'ended' && <TrialResult trial={state.trial} subject={state.subject} />}
      </div>
    </section>
  );
}
