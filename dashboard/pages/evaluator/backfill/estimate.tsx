/** What a run would score, cost and take; and the button that starts it. */
import type { DryRun, Evaluator, Run, Stats } from '../../../client/evaluators.ts';
import { count, dollars, milliseconds } from '../../../parts/formats/numbers.ts';
import { href } from '../../../state/address.ts';
import { estimateDuration, type Plan, toScore } from './plan.ts';

export type EstimateProps = {
  evaluator: Evaluator;
  plan: Plan;
  answer: DryRun;
  runs: readonly Run[];
  stats: Stats | null;
  isStarting: boolean;
  onStart: () => void;
};

function priceText({ llm_template }: Evaluator, { estimated_cost_usd }: DryRun): string {
  if (estimated_cost_usd !== null) return dollars(estimated_cost_usd);
  return llm_template === null
    ? 'Not known: nothing was scored yet'
    : 'Not known: no evaluation with a known price yet';
}

/** Shows the numbers of the dry run. */
export function Estimate({ evaluator, plan, answer, runs, stats, isStarting, onStart }: EstimateProps) {
  const wanted = toScore(answer, plan);
  const duration = estimateDuration(wanted, { runs, stats });
  return (
    <div class="evaluator-estimate" role="status">
      <dl class="evaluator-numbers">
        <div>
          <dt>Requests that pass</dt>
          <dd>
            <a href={href('/requests', { q: plan.q || null, range: '90d' })}>{count(answer.matching)}</a>
          </dd>
        </div>
        <div>
          <dt>Scored already</dt>
          <dd>{count(answer.already_scored)}</dd>
        </div>
        <div>
          <dt>To score now</dt>
          <dd>
            <strong>{count(wanted)}</strong>
          </dd>
        </div>
        <div>
          <dt>Price</dt>
          <dd>{priceText(evaluator, answer)}</dd>
        </div>
        <div>
          <dt>Duration</dt>
          <dd>
            {duration === null
              ? 'Not known'
              : `About ${milliseconds(Math.round(duration.ms))}, ${duration.basis}`}
          </dd>
        </div>
      </dl>
      <button type="button" class="primary" disabled={isStarting || wanted === 0} onClick={onStart}>
        Start the run
      </button>
    </div>
  );
}
