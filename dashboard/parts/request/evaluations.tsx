/** How evaluators judged the answer. */
import { RETRIED_FROM } from '#core/evaluations/mod.ts';
import { call } from '../../client/call.ts';
import type { Evaluation } from '../../client/evaluators.ts';
import { useResource } from '../../client/resource.ts';
import { may } from '../../state/me.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { decimal, dollars } from '../formats/numbers.ts';
import { Hostile } from '../text/hostile.tsx';
import { attempt } from '../toast/toast.tsx';

const OPEN = new Set(['pending', 'running']);
const RETRYABLE = new Set<string>(RETRIED_FROM);
const POLL_MS = 2_000;

function Judge({ judge }: { judge: NonNullable<Evaluation['judge']> }) {
  return (
    <p class="muted">
      Judged by <Hostile text={judge.model ?? 'a model'} />
      {judge.cost !== null && `, ${dollars(judge.cost)}`}
      {judge.request_ids.map((id, index) => (
        <span key={id}>
          {' '}
          ·{' '}
          <a href={`/requests/${encodeURIComponent(id)}`}>
            the judge's own call{index > 0 && ` ${index + 1}`}
          </a>
        </span>
      ))}
    </p>
  );
}

function One({ evaluation, onRetried }: { evaluation: Evaluation; onRetried: () => void }) {
  const { id, evaluator_id: evaluatorId, evaluator_name: name, version, state, score, label } = evaluation;
  const retry = async () => {
    const path = `/v1/evaluation/${encodeURIComponent(id)}/retry`;
    if (await attempt(() => call('POST', path), 'It is evaluated again')) onRetried();
  };
  return (
    <li class="card">
      <div class="request-title">
        <h3>
          <a href={`/evaluators/${encodeURIComponent(evaluatorId)}`}>
            <Hostile text={name} />
          </a>{' '}
          <span class="muted">version {version}</span>
        </h3>
        {score !== null && <strong>{decimal(score)}</strong>}
        {label !== null && (
          <span class="chip">
            <Hostile text={label} />
          </span>
        )}
        <span class={state === 'completed' ? 'chip chip-good' : 'chip'}>{state}</span>
        {RETRYABLE.has(state) && may('write') && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
      {evaluation.waiting !== null && <p class="muted">{evaluation.waiting}</p>}
      {evaluation.reasoning !== null && (
        <p class="request-reasoning">
          <Hostile text={evaluation.reasoning} />
        </p>
      )}
      {evaluation.error !== null && (
        <p class="bad">
          {evaluation.error.code} <Hostile text={evaluation.error.message ?? ''} />
        </p>
      )}
      {evaluation.traces !== null && (
        <details>
          <summary>Output</summary>
          <pre>
            <Hostile text={evaluation.traces} />
          </pre>
        </details>
      )}
      {[...evaluation.flags, ...evaluation.warnings].map((note) => (
        <p key={note} class="warn">
          <Hostile text={note} />
        </p>
      ))}
      {evaluation.judge !== null && <Judge judge={evaluation.judge} />}
    </li>
  );
}

/** Lists the evaluations of a request, and again while one is open. */
export function Evaluations({ id }: { id: string }) {
  const load = (signal: AbortSignal) =>
    call<Evaluation[]>('POST', '/v1/evaluation/query', { requestId: id, limit: 100 }, signal);
  const { data, failure, reload } = useResource(`evaluations ${id}`, load);
  const isOpen = data?.some(({ state }) => OPEN.has(state)) ?? false;
  const newest = useResource(isOpen ? `open evaluations ${id}` : null, load, { everyMs: POLL_MS });
  const shown = newest.data ?? data;
  if (shown === null) return <FailureNotice failure={failure} retry={reload} />;
  if (shown.length === 0)
    return (
      <p class="empty">
        No evaluator has judged this answer. <a href="/evaluators">Evaluators</a>
      </p>
    );
  return (
    <ul class="request-evaluations">
      {shown.map((evaluation) => (
        <One key={evaluation.id} evaluation={evaluation} onRetried={reload} />
      ))}
    </ul>
  );
}
