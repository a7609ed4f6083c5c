/** How evaluations ended, and why some have no score. */
import { EVALUATION_STATES, type EvaluationState } from '#core/evaluations/mod.ts';
import type { Evaluator, Stats } from '../../../client/evaluators.ts';
import { Bar } from '../../../parts/chart/bar.tsx';
import { count } from '../../../parts/formats/numbers.ts';
import { evaluatorAddress } from '../address.ts';
import { Section } from './parts.tsx';

const EXPLAINED: Readonly<Record<EvaluationState, string>> = {
  pending: 'wait for their turn',
  running: 'are under way',
  paused: 'wait until the evaluator or run is resumed',
  completed: 'have a score',
  skipped: 'the request had nothing to score',
  error: 'failed, and would fail again',
  dead: 'failed five times; can be tried again',
  cancelled: 'were cancelled',
};

type OutcomesProps = { evaluator: Evaluator; stats: Stats };

function Codes({
  title,
  codes,
  hrefOf,
}: {
  title: string;
  codes: Record<string, number>;
  hrefOf: (code: string) => string;
}) {
  const entries = Object.entries(codes).sort(([, a], [, b]) => b - a);
  if (entries.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="evaluator-codes">
        {entries.map(([code, number]) => (
          <li key={code}>
            <a href={hrefOf(code)}>
              <code>{code}</code> {count(number)}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Shows the states, with links to the evaluations in each. */
export function Outcomes({ evaluator, stats: { version, evaluations } }: OutcomesProps) {
  const link = (query: Record<string, string>) =>
    evaluatorAddress(evaluator.id, { tab: 'evaluations', version: String(version), ...query });
  const states = EVALUATION_STATES.filter((state) => evaluations.by_state[state] > 0);
  return (
    <Section title="Outcomes">
      <p>
        <a href={link({})}>{count(evaluations.total)} evaluations</a>{' '}
        <span class="muted">without probes</span>
      </p>
      {states.length > 0 && (
        <table class="evaluator-bars">
          <caption class="unseen">Evaluations by state</caption>
          <tbody>
            {states.map((state) => (
              <tr key={state}>
                <th scope="row">{state}</th>
                <td class="number">
                  <a href={link({ state })}>{count(evaluations.by_state[state])}</a>
                </td>
                <td class="evaluator-bar">
                  <Bar share={evaluations.by_state[state] / evaluations.total} />
                  <span class="muted">{EXPLAINED[state]}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Codes title="Errors" codes={evaluations.errors} hrefOf={(code) => link({ state: 'failed', code })} />
      <Codes title="Skipped" codes={evaluations.skips} hrefOf={(code) => link({ state: 'skipped', code })} />
    </Section>
  );
}
