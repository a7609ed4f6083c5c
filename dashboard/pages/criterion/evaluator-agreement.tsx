/** The agreement of a criterion's evaluator with the people who graded by it. */
import { call } from '../../client/call.ts';
import type { Stats } from '../../client/evaluators.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count, decimal, NOTHING, percent } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { evaluatorAddress } from '../evaluator/address.ts';
import { Figure, withInterval } from '../evaluator/statistics/parts.tsx';

type Agreement = Stats['agreement'];

function Figures({ agreement }: { agreement: Agreement }) {
  const { kappa, kappa_interval, kappa_note, accuracy, count: compared, ties } = agreement;
  return (
    <dl class="evaluator-figures">
      <Figure
        name="Kappa"
        explained={kappa_note ?? 'Agreement beyond chance, with the range of a confidence of 95%.'}
      >
        {withInterval(decimal(kappa), kappa_interval)}
      </Figure>
      <Figure name="Agreement" explained="The share of graded requests on which both say the same.">
        {accuracy === null ? NOTHING : percent(accuracy)}
      </Figure>
      <Figure
        name="Requests"
        explained={
          ties === 0
            ? 'Those that people graded and the evaluator scored.'
            : `Those that people graded and the evaluator scored; ${count(ties)} that as many people found good as bad are left out.`
        }
      >
        {count(compared)}
      </Figure>
    </dl>
  );
}

function OfEvaluator({ id, criterionId }: { id: string; criterionId: string }) {
  const path = `/v1/evaluator/${encodeURIComponent(id)}/stats`;
  const { data, failure, reload } = useResource(path, (signal) =>
    call<Stats>('GET', path, undefined, signal),
  );
  if (data === null) return <FailureNotice failure={failure} retry={reload} />;
  const { agreement } = data;
  return (
    <>
      {agreement.criterion_id === criterionId ? (
        <Figures agreement={agreement} />
      ) : (
        <p class="warn">
          <Hostile text={agreement.basis_note ?? 'It is compared with ratings, not with these grades.'} />
        </p>
      )}
      <a href={evaluatorAddress(id, { tab: 'statistics' })}>Statistics of the evaluator</a>
    </>
  );
}

/** Shows the agreement of the evaluator's current version. */
export function EvaluatorAgreement({
  evaluatorId,
  criterionId,
}: {
  evaluatorId: string | null;
  criterionId: string;
}) {
  return (
    <section class="card" aria-label="Agreement of the evaluator">
      <h2>Agreement of the evaluator with people</h2>
      {evaluatorId === null ? (
        <p class="muted">No evaluator judges the same: choose one by changing the criterion.</p>
      ) : (
        <OfEvaluator id={evaluatorId} criterionId={criterionId} />
      )}
    </section>
  );
}
