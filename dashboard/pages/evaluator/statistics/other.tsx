/** How far the evaluator agrees with another one, on the requests that both have scored. */
import { accuracyOf, type Confusion, kappaInterval, kappaOf, totalOf } from '#core/statistics/mod.ts';
import { call } from '../../../client/call.ts';
import type { Evaluator, Stats } from '../../../client/evaluators.ts';
import { useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { count, decimal, percent } from '../../../parts/formats/numbers.ts';
import { writeMarks } from '../../../parts/text/split-hostile.ts';
import { useAddress } from '../../../state/address.ts';
import { type Side, sidesAddress, sidesQuery } from '../address.ts';
import { Matrix } from './matrix.tsx';
import { Figure, Section, withInterval } from './parts.tsx';

type Party = { name: string; threshold: number };

const bothSides = (own: Party, other: Party, passes: boolean, otherPasses: boolean): Side[] => [
  { ...own, passes },
  { ...other, passes: otherPasses },
];

async function countBoth(own: Party, other: Party, signal: AbortSignal): Promise<Confusion> {
  const requests = (passes: boolean, otherPasses: boolean) =>
    call<number>(
      'POST',
      '/v1/request/count/query',
      { q: sidesQuery(bothSides(own, other, passes, otherPasses)) },
      signal,
    );
  const [truePositive, falsePositive, falseNegative, trueNegative] = await Promise.all([
    requests(true, true),
    requests(true, false),
    requests(false, true),
    requests(false, false),
  ]);
  return { truePositive, falsePositive, falseNegative, trueNegative };
}

type Compared = { other: Party; confusion: Confusion };

function useCompared(own: Party, otherId: string | undefined, others: readonly Evaluator[]) {
  const other = others.find(({ id }) => id === otherId);
  const key =
    other === undefined ? null : `agreement ${own.name} ${own.threshold} ${other.id} ${other.version}`;
  return useResource(key, async (signal): Promise<Compared> => {
    const stats = await call<Stats>('GET', `/v1/evaluator/${other!.id}/stats`, undefined, signal);
    const party = { name: other!.name, threshold: stats.agreement.threshold };
    return { other: party, confusion: await countBoth(own, party, signal) };
  });
}

function Result({ own, compared: { other, confusion } }: { own: Party; compared: Compared }) {
  const cell = (number: number, passes: boolean, otherPasses: boolean) => ({
    count: number,
    href: sidesAddress(bothSides(own, other, passes, otherPasses)),
    isAgreement: passes === otherPasses,
  });
  return (
    <div class="evaluator-agreement">
      <Matrix
        caption="Requests by both verdicts"
        columns={[`Other: ${decimal(other.threshold)} or more`, 'Other: less']}
        rows={[
          [
            `Passes (${decimal(own.threshold)} or more)`,
            [cell(confusion.truePositive, true, true), cell(confusion.falsePositive, true, false)],
          ],
          ['Fails', [cell(confusion.falseNegative, false, true), cell(confusion.trueNegative, false, false)]],
        ]}
      />
      <dl class="evaluator-figures">
        <Figure name="Scored by both" explained="Requests that have a score of each.">
          {count(totalOf(confusion))}
        </Figure>
        <Figure name="Agreement" explained="The share of these on which both say the same.">
          {percent(accuracyOf(confusion))}
        </Figure>
        <Figure
          name="Kappa"
          explained="Agreement beyond chance: 0 is what guessing reaches, 1 is perfect. Two judges can agree and both be wrong."
        >
          {withInterval(decimal(kappaOf(confusion)), kappaInterval(confusion))}
        </Figure>
      </dl>
    </div>
  );
}

/** Shows the comparison with the evaluator of `with=` in the address. Scores are those that the requests have now. */
export function OtherSection({ evaluator, threshold }: { evaluator: Evaluator; threshold: number }) {
  const { query, set } = useAddress();
  const { data } = useResource('evaluators', (signal) =>
    call<Evaluator[]>('GET', '/v1/evaluator', undefined, signal),
  );
  const others = (data ?? []).filter(({ id }) => id !== evaluator.id);
  const own = { name: evaluator.name, threshold };
  const compared = useCompared(own, query.with, others);
  if (others.length === 0) return null;
  return (
    <Section title="Agreement with another evaluator" isWide>
      <p>
        <label>
          Compare with{' '}
          <select
            value={query.with ?? ''}
            onChange={({ currentTarget: { value } }) => set({ with: value || null })}
          >
            <option value="">none</option>
            {others.map(({ id, name }) => (
              <option key={id} value={id}>
                {writeMarks(name)}
              </option>
            ))}
          </select>
        </label>
      </p>
      <FailureNotice failure={compared.failure} retry={compared.reload} />
      {compared.data !== null && query.with !== undefined && <Result own={own} compared={compared.data} />}
    </Section>
  );
}
