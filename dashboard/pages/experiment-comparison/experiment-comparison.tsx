/** The page /experiments/compare: up to three experiments beside a baseline, item by item. */
import type { CompareBody, ComparisonJson } from '#core/contracts/comparison.ts';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { call } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { useExperiment, useExperiments } from '../experiments/load.ts';
import { isUnderWay } from '../experiments/words.ts';
import { readWanted, type Wanted } from './address.ts';
import { Controls } from './controls.tsx';
import { Losses } from './losses.tsx';
import { Numbers } from './numbers.tsx';
import { Pairs } from './pairs.tsx';
import { Verdicts } from './verdicts.tsx';

function useComparison({ baseline, candidates, margin, cluster }: Wanted): Resource<ComparisonJson> {
  const body: CompareBody = {
    baseline,
    candidates: [...candidates],
    cluster,
    ...(margin !== null && { margin }),
  };
  const isReady = baseline !== '' && candidates.length > 0;
  return useResource(isReady ? `comparison ${JSON.stringify(body)}` : null, (signal) =>
    call<ComparisonJson>('POST', '/v1/experiment/compare', body, signal),
  );
}

function LeftOut({ comparison: { candidates } }: { comparison: ComparisonJson }) {
  const all = candidates.flatMap(({ id, name: candidate, left_out }) =>
    left_out.map((one) => ({ ...one, candidate, key: `${id} ${one.evaluator_id}` })),
  );
  if (all.length === 0) return null;
  return (
    <section class="part" aria-label="What is left out">
      <h2>What is left out</h2>
      <ul>
        {all.map(({ key, name, reason, candidate }) => (
          <li key={key} class="break">
            <Hostile text={name} />, of <Hostile text={candidate} />: <Hostile text={reason} />.
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Says that numbers will change while experiments are under way. */
function Unfinished({ experiments, reload }: { experiments: readonly ExperimentJson[]; reload: () => void }) {
  const open = experiments.filter(isUnderWay);
  if (open.length === 0) return null;
  return (
    <div class="stop-notice" role="status">
      <p>
        <Hostile text={open.map(({ name }) => name).join(', ')} /> {open.length === 1 ? 'is' : 'are'} not done
        yet: the numbers are those of the items so far.{' '}
        <button type="button" onClick={reload}>
          Compare again
        </button>
      </p>
    </div>
  );
}

/** The page. */
export function ExperimentComparison() {
  const { query } = useAddress();
  const wanted = readWanted(query);
  const baseline = useExperiment(wanted.baseline === '' ? null : wanted.baseline);
  const chosen = useExperiments(wanted.candidates);
  const experiments = [baseline.data, chosen.data].flatMap((one) => one ?? []);
  const { data, failure, isLoading, reload } = useComparison(wanted);
  const reloadAll = () => {
    baseline.reload();
    chosen.reload();
    reload();
  };
  useKeys('Comparison of experiments', {
    r: { what: 'Compare again', run: reloadAll },
  });
  const failures = [baseline, chosen, { failure, reload }];
  const failed = failures.find((one) => one.failure !== null);
  return (
    <div class={isLoading ? 'comparison busy' : 'comparison'}>
      <p class="evaluator-back">
        <a href="/experiments">Experiments</a>
      </p>
      <header class="page-head">
        <h1>Compare experiments</h1>
      </header>
      <FailureNotice failure={failed?.failure ?? null} retry={() => failed?.reload()} />
      {wanted.baseline === '' && (
        <p class="empty">
          Pick up to four experiments in <a href="/experiments">the list</a>, and compare them.
        </p>
      )}
      {baseline.data !== null && (
        <Controls wanted={wanted} experiments={experiments} datasetId={baseline.data.dataset_id} />
      )}
      {baseline.data !== null && wanted.candidates.length === 0 && (
        <p class="empty">Choose a candidate to compare with the baseline.</p>
      )}
      {data !== null && <Unfinished experiments={experiments} reload={reloadAll} />}
      {data === null && isLoading && <p class="muted">Comparing item by item …</p>}
      {data !== null && failure === null && (
        <>
          <Verdicts comparison={data} />
          <Numbers comparison={data} />
          <Pairs comparison={data} onAsked={reload} />
          {baseline.data !== null && <Losses comparison={data} baseline={baseline.data} />}
          <LeftOut comparison={data} />
        </>
      )}
    </div>
  );
}
