/** How the scores lie. */
import type { Bucket, Evaluator, Stats } from '../../../client/evaluators.ts';
import { Bar } from '../../../parts/chart/bar.tsx';
import { count, decimal, percent } from '../../../parts/formats/numbers.ts';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { bucketAddress, scoredAddress } from '../address.ts';
import { Figure, Section } from './parts.tsx';

function BucketName({ bucket, isLast }: { bucket: Bucket; isLast: boolean }) {
  if (!('label' in bucket)) {
    return (
      <>
        {decimal(bucket.from)} to {isLast ? '' : 'under '}
        {decimal(bucket.to)}
      </>
    );
  }
  return (
    <>
      <Hostile text={bucket.label} /> <span class="muted">{decimal(bucket.score)}</span>
    </>
  );
}

/** Shows the distribution, each bucket with its requests. */
export function Scores({ evaluator: { name }, stats: { scores } }: { evaluator: Evaluator; stats: Stats }) {
  const { distribution } = scores;
  const most = Math.max(1, ...distribution.map((bucket) => bucket.count));
  return (
    <Section title="Scores">
      {scores.count === 0 ? (
        <p class="muted">No scores yet.</p>
      ) : (
        <>
          <table class="evaluator-bars">
            <caption class="unseen">Scores by bucket</caption>
            <tbody>
              {distribution.map((bucket, index) => {
                const isLast = index === distribution.length - 1;
                return (
                  <tr key={index}>
                    <th scope="row">
                      <BucketName bucket={bucket} isLast={isLast} />
                    </th>
                    <td class="number">
                      <a href={bucketAddress(name, bucket, isLast)}>{count(bucket.count)}</a>
                    </td>
                    <td class="evaluator-bar">
                      <Bar share={bucket.count / most} />
                      <span class="muted">{percent(bucket.count / scores.count)}</span>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          <dl class="evaluator-figures">
            <Figure name="Scored" explained="Evaluations that ended in a score.">
              <a href={scoredAddress(name)}>{count(scores.count)}</a>
            </Figure>
            <Figure name="Mean" explained="The sum of the scores, divided by their number.">
              {decimal(scores.mean)}
            </Figure>
            <Figure name="Standard deviation" explained="How far scores usually lie from the mean.">
              {decimal(scores.standard_deviation)}
            </Figure>
            <Figure name="Lowest and highest" explained="Of all scores of this version.">
              {decimal(scores.min)} to {decimal(scores.max)}
            </Figure>
          </dl>
        </>
      )}
    </Section>
  );
}
