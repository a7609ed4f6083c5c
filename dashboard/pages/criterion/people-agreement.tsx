/** The agreement of the people who graded by a criterion. */
import type { PeopleAgreementJson } from '#core/contracts/grade.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { queryFault } from '../../parts/form/query-fault.ts';
import { QueryField } from '../../parts/form/query-field.tsx';
import { Fact, Facts } from '../../parts/formats/fact.tsx';
import { count, decimal } from '../../parts/formats/numbers.ts';
import { useAddress } from '../../state/address.ts';

type Coefficient = PeopleAgreementJson['cohens_kappa'];

function CoefficientRow({ name, of, coefficient }: { name: string; of: string; coefficient: Coefficient }) {
  const { value, reason } = coefficient;
  return (
    <div class="evaluator-figure">
      <dt>{name}</dt>
      <dd>
        <strong>{decimal(value)}</strong>
        <p class="muted">{reason ?? of}</p>
      </dd>
    </div>
  );
}

function Coefficients({ agreement }: { agreement: PeopleAgreementJson }) {
  const { requests, multiply_graded, raters, grades, level } = agreement;
  return (
    <>
      <Facts>
        <Fact name="Grades">{count(grades)}</Fact>
        <Fact name="People">{count(raters)}</Fact>
        <Fact name="Requests">{count(requests)}</Fact>
        <Fact name="Graded by several">{count(multiply_graded)}</Fact>
      </Facts>
      <dl class="evaluator-figures">
        <CoefficientRow
          name="Krippendorff's alpha"
          of={`Of any number of people, of whom some may have graded some requests only; ${level} data.`}
          coefficient={agreement.krippendorffs_alpha}
        />
        <CoefficientRow
          name="Cohen's kappa"
          of="Of two people, over the requests that both graded."
          coefficient={agreement.cohens_kappa}
        />
        <CoefficientRow
          name="Fleiss' kappa"
          of="Of requests that the same number of people graded everywhere."
          coefficient={agreement.fleiss_kappa}
        />
      </dl>
    </>
  );
}

/** Shows the coefficients, over the requests of the query in the address. */
export function PeopleAgreement({ criterionId }: { criterionId: string }) {
  const { query, set } = useAddress();
  const q = query.q ?? '';
  const path = `/v1/criterion/${encodeURIComponent(criterionId)}/agreement`;
  const { data, failure, isLoading, reload } = useResource(
    queryFault(q) === null ? `agreement ${criterionId} ${q}` : null,
    (signal) => call<PeopleAgreementJson>('POST', path, { q }, signal),
  );
  return (
    <section class="card" aria-label="Agreement of people" aria-busy={isLoading}>
      <h2>Agreement of people</h2>
      <p class="muted">1 when all agree, 0 as by chance.</p>
      <QueryField
        label="Of the requests"
        hint="As in the query bar. Empty: all that were graded."
        q={q}
        onChange={(text) => set({ q: text === '' ? null : text }, { replace: true })}
      />
      <FailureNotice failure={failure} retry={reload} />
      {data === null && failure === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && <Coefficients agreement={data} />}
    </section>
  );
}
