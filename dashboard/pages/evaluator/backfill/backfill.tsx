/** Scores requests that were logged before: the price first, then the run. */
import { useState } from 'preact/hooks';
import { type ApiFailure, call } from '../../../client/call.ts';
import type { DryRun, Evaluator, Run, Stats } from '../../../client/evaluators.ts';
import { toFailure, useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { WithScope } from '../../../parts/form/scope.tsx';
import { tell } from '../../../parts/toast/toast.tsx';
import { useAddress } from '../../../state/address.ts';
import { Estimate } from './estimate.tsx';
import { type Plan, planQuery, readPlan, runBody } from './plan.ts';
import { PlanForm } from './plan-form.tsx';
import { Runs } from './runs.tsx';

/** While something runs. */
const POLL_MS = 1_000;
const REST_MS = 15_000;

/** The answer of a dry run, and the body that it is of. */
type Priced = { body: string; answer: DryRun };

/** The runs, asked for every second while one is under way. */
function useRuns({ id }: Evaluator) {
  const [everyMs, setEveryMs] = useState(POLL_MS);
  const resource = useResource(
    `evaluator-runs ${id}`,
    (signal) => call<Run[]>('GET', `/v1/evaluator/${id}/runs`, undefined, signal),
    { everyMs },
  );
  const wanted = resource.data?.some(({ state }) => state === 'running') ? POLL_MS : REST_MS;
  if (resource.data !== null && wanted !== everyMs) setEveryMs(wanted);
  return resource;
}

function useStats({ id, version }: Evaluator): Stats | null {
  return useResource(`evaluator-stats ${id} ${version}`, (signal) =>
    call<Stats>('GET', `/v1/evaluator/${id}/stats?version=${version}`, undefined, signal),
  ).data;
}

/** Shows the form, the price of what it says, and the runs so far. */
export function Backfill({ evaluator }: { evaluator: Evaluator }) {
  const { query, set } = useAddress();
  const plan = readPlan(query);
  const runs = useRuns(evaluator);
  const stats = useStats(evaluator);
  const [priced, setPriced] = useState<Priced | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isStarting, setStarting] = useState(false);
  const path = `/v1/evaluator/${evaluator.id}/run`;
  const body = JSON.stringify(runBody(plan));
  // Another plan has another price: it must be asked for again.
  const answer = priced?.body === body ? priced.answer : null;
  const change = (changes: Partial<Plan>) => set(planQuery({ ...plan, ...changes }), { replace: true });
  const price = async () => {
    setFailure(null);
    const next = await call<DryRun>('POST', path, { ...runBody(plan), dryRun: true });
    setPriced({ body, answer: next });
  };
  const start = async () => {
    setStarting(true);
    setFailure(null);
    try {
      await call<Run>('POST', path, runBody(plan));
      tell('The run has begun');
      setPriced(null);
      runs.reload();
    } catch (error) {
      setFailure(toFailure(error));
    }
    setStarting(false);
  };
  return (
    <>
      <section class="card evaluator-section" aria-label="New run">
        <h2>Score requests of the past</h2>
        <p>Requests that version {evaluator.version} has evaluated already are not scored again.</p>
        <WithScope scope="write" what="score history">
          <PlanForm evaluator={evaluator} plan={plan} onChange={change} onPrice={price} />
          {answer !== null && (
            <Estimate
              evaluator={evaluator}
              plan={plan}
              answer={answer}
              runs={runs.data ?? []}
              stats={stats}
              isStarting={isStarting}
              onStart={start}
            />
          )}
          <FailureNotice failure={failure} />
        </WithScope>
      </section>
      <FailureNotice failure={runs.failure} retry={runs.reload} />
      {runs.data !== null && <Runs evaluator={evaluator} runs={runs.data} onChange={runs.reload} />}
    </>
  );
}
