/** An experiment and its progress, as the list and its own page show them. */
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { datasetAddress } from '../../parts/datasets/load.ts';
import { count, dollars, NOTHING, percent, plural } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { evaluatorAddress } from '../evaluator/address.ts';
import type { Names } from './load.ts';
import { doneOf, type Look, progressOf, STATES, targetText } from './words.ts';

/** @example <StateChip of={STATES.running} /> */
export function StateChip({ of: { word, look } }: { of: Look }) {
  return <span class={look}>{word}</span>;
}

type OneProps = { experiment: ExperimentJson };
type NamedProps = OneProps & { names: Names };

/** Shows how many answers are there, and how many grades are still to come. */
export function Progress({ experiment }: OneProps) {
  const { name, runs, failed, ungraded } = experiment;
  const share = progressOf(experiment);
  return (
    <div class="experiment-progress">
      <progress max={1} value={share} aria-label={`Progress of ${name}`} />
      <span>
        {count(doneOf(experiment))} of {count(runs)} ({percent(share)})
      </span>
      {failed > 0 && <span class="bad">{count(failed)} failed</span>}
      {ungraded > 0 && <span class="muted">{plural(ungraded, 'grade')} to come</span>}
    </div>
  );
}

/** Shows the state, and how far the experiment is. */
export function Standing({ experiment }: OneProps) {
  return (
    <>
      <StateChip of={STATES[experiment.state]} />
      <Progress experiment={experiment} />
    </>
  );
}

/** Shows the cost of answers and judges together, beside the budget. */
export function Spend({ experiment: { cost_usd, judge_cost_usd, max_cost_usd } }: OneProps) {
  const spent = dollars(cost_usd + judge_cost_usd);
  return (
    <span title={`${dollars(cost_usd)} for answers, ${dollars(judge_cost_usd)} for judges`}>
      {max_cost_usd === null ? spent : `${spent} of ${dollars(max_cost_usd)}`}
    </span>
  );
}

/** Shows the dataset with its version and split, as a link. */
export function DatasetLink({ experiment: { dataset_id: id, dataset_version, split }, names }: NamedProps) {
  const version = String(dataset_version);
  return (
    <a class="break" href={datasetAddress(id, { version, split })}>
      <Hostile text={names.datasets.get(id) ?? id} /> version {version}
      {split !== null && (
        <>
          , <Hostile text={split} />
        </>
      )}
    </a>
  );
}

/** Shows the target in words. */
export function TargetText({ experiment: { target }, names }: NamedProps) {
  return (
    <span class="break">
      <Hostile text={targetText(target, (id) => names.prompts.get(id) ?? id)} />
    </span>
  );
}

/** Shows the evaluators with the versions that grade. */
export function EvaluatorLinks({ experiment: { evaluators }, names }: NamedProps) {
  if (evaluators.length === 0) return <span class="muted">{NOTHING}</span>;
  return (
    <span class="chips">
      {evaluators.map(({ id, version }) => (
        <a key={id} class="chip text-chip" href={evaluatorAddress(id)}>
          <span>
            <Hostile text={names.evaluators.get(id) ?? id} /> <span class="muted">v{version}</span>
          </span>
        </a>
      ))}
    </span>
  );
}
