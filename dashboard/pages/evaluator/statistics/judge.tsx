/** What scoring costs, and how long it takes. */
import type { Evaluator, Stats } from '../../../client/evaluators.ts';
import { count, dollars, milliseconds, NOTHING, shortCount } from '../../../parts/formats/numbers.ts';
import { Figure, Section } from './parts.tsx';

/** Shows the sums of the judge's calls. */
export function JudgeSection({
  evaluator,
  stats: { judge, scores },
}: {
  evaluator: Evaluator;
  stats: Stats;
}) {
  const perScore = scores.count === 0 || judge.cost === null ? NOTHING : dollars(judge.cost / scores.count);
  return (
    <Section title="Cost">
      <dl class="evaluator-figures">
        <Figure
          name="Cost"
          explained={
            evaluator.daily_budget_usd === null
              ? 'Of the calls of this version, without probes. No budget limits it.'
              : `Of the calls of this version, without probes. The budget is ${dollars(evaluator.daily_budget_usd)} a day (UTC).`
          }
        >
          {dollars(judge.cost)}
        </Figure>
        <Figure name="Cost of a score" explained="The cost, divided by the number of scores.">
          {perScore}
        </Figure>
        <Figure
          name="Calls"
          explained="Calls of the judge; a verdict that cannot be read is asked for once more."
        >
          {count(judge.calls)}
        </Figure>
        <Figure name="Tokens" explained="Sent to the judge, and written by it.">
          {shortCount(judge.prompt_tokens)} + {shortCount(judge.completion_tokens)}
        </Figure>
        <Figure
          name="Latency"
          explained="Half of the evaluations waited less than the first for the judge, 19 of 20 less than the second."
        >
          {milliseconds(judge.latency_ms.p50)} / {milliseconds(judge.latency_ms.p95)}
        </Figure>
      </dl>
    </Section>
  );
}
