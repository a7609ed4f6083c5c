/** All of one evaluation. */

import { CANCELLED_FROM, RETRIED_FROM } from '#core/evaluations/mod.ts';
import { call } from '../../../client/call.ts';
import type { Evaluation } from '../../../client/evaluators.ts';
import { useResource } from '../../../client/resource.ts';
import { CopyButton } from '../../../parts/copy/copy.tsx';
import { Dialog } from '../../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { count, decimal, dollars, milliseconds } from '../../../parts/formats/numbers.ts';
import { fullTime } from '../../../parts/formats/times.ts';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { attempt } from '../../../parts/toast/toast.tsx';
import { may } from '../../../state/me.ts';
import { TitledText } from '../titled-text.tsx';
import { JudgeCalls, StateChip } from './columns.tsx';

function JudgeFacts({ judge }: { judge: NonNullable<Evaluation['judge']> }) {
  return (
    <>
      <div>
        <dt>Judge</dt>
        <dd>
          {judge.model !== null && <Hostile text={judge.model} />} <JudgeCalls judge={judge} />
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>{dollars(judge.cost)}</dd>
      </div>
      <div>
        <dt>Judge's time</dt>
        <dd>{milliseconds(judge.latency_ms)}</dd>
      </div>
    </>
  );
}

function Facts({ evaluation }: { evaluation: Evaluation }) {
  const { score, label, request_id, judge, attempts, version, finished_at, scheduled_at } = evaluation;
  return (
    <dl class="evaluator-numbers">
      <div>
        <dt>State</dt>
        <dd>
          <StateChip evaluation={evaluation} />
        </dd>
      </div>
      <div>
        <dt>Score</dt>
        <dd>
          <strong>{decimal(score)}</strong> {label !== null && <Hostile text={label} />}
        </dd>
      </div>
      <div>
        <dt>Request</dt>
        <dd>
          <a class="mono" href={`/requests/${encodeURIComponent(request_id)}`}>
            <Hostile text={request_id} />
          </a>{' '}
          <CopyButton text={request_id} what="request id" />
        </dd>
      </div>
      {judge !== null && <JudgeFacts judge={judge} />}
      <div>
        <dt>Version</dt>
        <dd>{version}</dd>
      </div>
      <div>
        <dt>Attempts</dt>
        <dd>{count(attempts)}</dd>
      </div>
      <div>
        <dt>{finished_at === null ? 'Scheduled' : 'Ended'}</dt>
        <dd>{fullTime(finished_at ?? scheduled_at)}</dd>
      </div>
    </dl>
  );
}

function History({ history }: { history: Evaluation['history'] }) {
  if (history.length === 0) return null;
  return (
    <details>
      <summary>Failed attempts ({history.length})</summary>
      <ol class="evaluator-history">
        {history.map(({ attempt: number, at, code, message }) => (
          <li key={`${number} ${at}`}>
            {fullTime(at)} <code>{code}</code> {message !== null && <Hostile text={message} />}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Body({ evaluation }: { evaluation: Evaluation }) {
  const { error, flags, warnings, waiting } = evaluation;
  return (
    <>
      <Facts evaluation={evaluation} />
      {error !== null && (
        <div class={evaluation.state === 'skipped' ? 'stop-notice' : 'failure'}>
          <code>{error.code}</code> {error.message !== null && <Hostile text={error.message} />}
        </div>
      )}
      {[...warnings, ...(waiting === null ? [] : [waiting])].map((warning) => (
        <p key={warning} class="warn">
          <Hostile text={warning} />
        </p>
      ))}
      {flags.map((flag) => (
        <span key={flag} class="chip chip-warn">
          <Hostile text={flag} />
        </span>
      ))}
      <TitledText title="Reasoning" text={evaluation.reasoning} />
      <TitledText title="Traces" text={evaluation.traces} />
      <History history={evaluation.history} />
    </>
  );
}

export type EvaluationDialogProps = { id: string; onClose: () => void; onChange: () => void };

/** Shows an evaluation; one that failed can be tried again, one that waits can be cancelled. */
export function EvaluationDialog({ id, onClose, onChange }: EvaluationDialogProps) {
  const path = `/v1/evaluation/${encodeURIComponent(id)}`;
  const { data, failure, reload } = useResource(path, (signal) =>
    call<Evaluation>('GET', path, undefined, signal),
  );
  const act = (verb: 'retry' | 'cancel', done: string) =>
    attempt(async () => {
      await call('POST', `${path}/${verb}`);
      reload();
      onChange();
    }, done);
  const state = data?.state;
  return (
    <Dialog
      title={`Evaluation ${id}`}
      onClose={onClose}
      isWide
      actions={
        may('write') && (
          <>
            {RETRIED_FROM.some((one) => one === state) && (
              <button type="button" onClick={() => act('retry', 'It is tried again')}>
                Try again
              </button>
            )}
            {CANCELLED_FROM.some((one) => one === state) && (
              <button type="button" onClick={() => act('cancel', 'Cancelled')}>
                Cancel the evaluation
              </button>
            )}
          </>
        )
      }
    >
      <FailureNotice failure={failure} retry={reload} />
      {data !== null && <Body evaluation={data} />}
    </Dialog>
  );
}
