/** The statistics of one version of an evaluator: how its scores lie, and how far they can be trusted. */
import { call } from '../../../client/call.ts';
import type { Evaluator, Stats } from '../../../client/evaluators.ts';
import { useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { useAddressText } from '../../../parts/form/use-address-text.ts';
import { href, useAddress } from '../../../state/address.ts';
import { AgreementSection } from './agreement.tsx';
import { JudgeSection } from './judge.tsx';
import { OtherSection } from './other.tsx';
import { Outcomes } from './outcomes.tsx';
import { ProbesSection } from './probes.tsx';
import { Scores } from './scores.tsx';
import { Series } from './series.tsx';

/** While evaluations wait or run. */
const POLL_MS = 3_000;

function useStats({ id, version }: Evaluator) {
  const { query } = useAddress();
  const wanted = { version: query.version ?? String(version), threshold: query.threshold ?? null };
  const path = href(`/v1/evaluator/${id}/stats`, wanted);
  return useResource(path, (signal) => call<Stats>('GET', path, undefined, signal), { everyMs: POLL_MS });
}

function Options({ evaluator, stats }: { evaluator: Evaluator; stats: Stats | null }) {
  const { query, set } = useAddress();
  const threshold = useAddressText('threshold');
  const versions = Array.from({ length: evaluator.version }, (_, index) => evaluator.version - index);
  return (
    <div class="evaluator-options">
      <label>
        Version{' '}
        <select
          value={query.version ?? String(evaluator.version)}
          onChange={({ currentTarget: { value } }) =>
            set({ version: value === String(evaluator.version) ? null : value })
          }
        >
          {versions.map((version) => (
            <option key={version} value={version}>
              {version === evaluator.version ? `${version} (current)` : version}
            </option>
          ))}
        </select>
      </label>
      <label>
        A score passes from{' '}
        <input
          type="number"
          {...threshold}
          step="any"
          class="evaluator-threshold"
          placeholder={stats === null ? '' : String(stats.agreement.threshold)}
        />
      </label>
    </div>
  );
}

/** Shows the statistics of the version in the address, the current one without. */
export function Statistics({ evaluator }: { evaluator: Evaluator }) {
  const { data: stats, failure, isLoading, reload } = useStats(evaluator);
  return (
    <>
      <Options evaluator={evaluator} stats={stats} />
      <FailureNotice failure={failure} retry={reload} />
      {stats === null && isLoading && <p class="muted">Loading the statistics …</p>}
      {stats !== null && (
        <div class="evaluator-cards">
          <div class="evaluator-stack">
            <Outcomes evaluator={evaluator} stats={stats} />
            <Series evaluator={evaluator} stats={stats} />
          </div>
          <div class="evaluator-stack">
            <Scores evaluator={evaluator} stats={stats} />
            {evaluator.scoring_type !== 'PYTHON' && <JudgeSection evaluator={evaluator} stats={stats} />}
          </div>
          <AgreementSection evaluator={evaluator} agreement={stats.agreement} />
          <OtherSection evaluator={evaluator} threshold={stats.agreement.threshold} />
          {evaluator.llm_template !== null && <ProbesSection evaluator={evaluator} stats={stats} />}
        </div>
      )}
    </>
  );
}
