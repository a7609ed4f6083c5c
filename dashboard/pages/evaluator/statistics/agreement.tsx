/** The evaluator's agreement with people's grades or ratings of the same requests, and its corrected pass rate. */
import type { Agreement, Evaluator } from '../../../client/evaluators.ts';
import { count, decimal, percent, plural } from '../../../parts/formats/numbers.ts';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { ratedAddress, sideAddress } from '../address.ts';
import { Matrix } from './matrix.tsx';
import { Figure, rateText, Section, withInterval } from './parts.tsx';

type AgreementProps = { evaluator: Evaluator; agreement: Agreement };

/** Grades are no field of a query: requests can be found by their ratings alone. */
const isOfRatings = ({ criterion_id }: Agreement) => criterion_id === null;

/** The basis of people's verdicts. */
function Basis({ agreement: { criterion_id, basis_note, ties } }: Pick<AgreementProps, 'agreement'>) {
  return (
    <p class="muted">
      {criterion_id === null ? (
        'Compared with ratings.'
      ) : (
        <>
          Compared with <a href={`/review/criteria/${criterion_id}`}>people's grades by its criterion</a>.
        </>
      )}
      {basis_note !== null && (
        <>
          {' '}
          <Hostile text={basis_note} />.
        </>
      )}
      {ties > 0 && ` Left out, as as many people found them good as bad: ${plural(ties, 'request')}.`}
    </p>
  );
}

function PeopleMatrix({ evaluator: { name }, agreement }: AgreementProps) {
  const { confusion, threshold } = agreement;
  const cell = (number: number, passes: boolean, rating: boolean) => ({
    count: number,
    href: isOfRatings(agreement) ? sideAddress(name, { threshold, passes, rating }) : null,
    isAgreement: passes === rating,
  });
  return (
    <Matrix
      caption="Scored requests by verdict and rating"
      columns={['People: good', 'People: bad']}
      rows={[
        [
          `Passes (${decimal(threshold)} or more)`,
          [cell(confusion.true_positive, true, true), cell(confusion.false_positive, true, false)],
        ],
        ['Fails', [cell(confusion.false_negative, false, true), cell(confusion.true_negative, false, false)]],
      ]}
    />
  );
}

function Trust({ evaluator: { name }, agreement }: AgreementProps) {
  return (
    <dl class="evaluator-figures">
      <Figure
        name="Agreement"
        explained="The share of rated requests on which evaluator and people say the same."
      >
        {percent(agreement.accuracy)}
      </Figure>
      <Figure
        name="Kappa"
        explained={
          agreement.kappa_note ??
          'Agreement beyond chance: 0 is what guessing reaches, 1 is perfect; above 0.6 is usually called good.'
        }
      >
        {withInterval(decimal(agreement.kappa), agreement.kappa_interval)}
      </Figure>
      <Figure
        name="Finds the good"
        explained="Of the requests that people rated good, the share that passes."
      >
        {rateText(agreement.true_positive_rate)}
      </Figure>
      <Figure name="Finds the bad" explained="Of the requests that people rated bad, the share that fails.">
        {rateText(agreement.true_negative_rate)}
      </Figure>
      <Figure
        name="Coverage"
        explained="The share of rated requests that have a score; the numbers above say nothing of the others."
      >
        {percent(agreement.coverage)} <span class="muted">of</span>{' '}
        {isOfRatings(agreement) ? (
          <a href={ratedAddress(name)}>{count(agreement.rated)}</a>
        ) : (
          count(agreement.rated)
        )}
      </Figure>
    </dl>
  );
}

function PassRate({ evaluator: { name }, agreement }: AgreementProps) {
  const { threshold, pass_rate, corrected_pass_rate, corrected_pass_rate_interval, note } = agreement;
  return (
    <dl class="evaluator-figures">
      <Figure name="Pass rate" explained="The share of all scores that pass, as the evaluator says.">
        <a href={sideAddress(name, { threshold, passes: true })}>{rateText(pass_rate)}</a>
      </Figure>
      <Figure
        name="Corrected pass rate"
        explained={
          note ??
          'What people would have found: the pass rate, corrected by how often the evaluator errs on rated requests.'
        }
      >
        {withInterval(percent(corrected_pass_rate), corrected_pass_rate_interval, percent)}
      </Figure>
    </dl>
  );
}

/** Shows the matrix and the numbers that come of it. Intervals are of 95 %. */
export function AgreementSection(props: AgreementProps) {
  return (
    <Section title="Agreement with people" isWide>
      <Basis agreement={props.agreement} />
      <p class="muted">In parentheses: the range that the true value lies in with a confidence of 95%.</p>
      <div class="evaluator-agreement">
        <div>
          <PeopleMatrix {...props} />
          {props.agreement.count === 0 && (
            <p class="muted">
              No scored request has been rated. Rate some, good ones and bad ones, to see how far the
              evaluator can be trusted.
            </p>
          )}
          <PassRate {...props} />
        </div>
        <Trust {...props} />
      </div>
    </Section>
  );
}
