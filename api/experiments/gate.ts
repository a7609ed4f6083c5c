/** Gates: holds an experiment that has ended against rules, by its comparison with a baseline. */
import { AssayError } from '#core/contracts/errors.ts';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import type { GateBody, GateJson } from '#core/contracts/gate.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import {
  type Amount,
  type GateFacts,
  gateOutcome,
  judgeRules,
  junitOf,
  markdownOf,
  parseRules,
  type Rule,
  UNGRADED,
} from '#core/experiments/gate/mod.ts';
import type { Compare } from './compare.ts';

/** @throws AssayError invalid_body, not_found; conflict while answers or grades are still to come */
export type Gate = (organizationId: string, experimentId: string, body: GateBody) => Promise<GateJson>;

const DEFAULT_ALPHA = 0.05;

type Options = {
  compare: Compare;
  find(organizationId: string, experimentId: string): Promise<ExperimentJson>;
};

export function createGate({ compare, find }: Options): Gate {
  return async (organizationId, experimentId, body) => {
    const given = body.rules === undefined ? null : parseRules(body.rules);
    const experiment = await find(organizationId, experimentId);
    const rules = given ?? parseRules(experiment.rules ?? []);
    if (given === null && experiment.rules === null)
      throw invalidField('rules', 'is required: the experiment has none');
    const baselineId = body.baseline ?? experiment.baseline_id;
    if (baselineId === null) throw invalidField('baseline', 'is required: the experiment names none');
    const baseline = await find(organizationId, baselineId);
    for (const side of [experiment, baseline]) refuseUnended(side);
    const { alpha = DEFAULT_ALPHA, cluster, seed, undecided = 'fail' } = body;
    const comparison = await compare(
      organizationId,
      {
        baseline: baseline.id,
        candidates: [experiment.id],
        alpha,
        ...(cluster !== undefined && { cluster }),
        ...(seed !== undefined && { seed }),
      },
      wantedMetrics(rules),
    );
    const facts: GateFacts = {
      alpha,
      failed: experiment.failed,
      asked: experiment.runs - experiment.skipped,
      baselineFailed: baseline.failed,
      baselineAsked: baseline.runs - baseline.skipped,
      answered: experiment.completed,
      baselineAnswered: baseline.completed,
      skipped: experiment.skipped,
      changed: comparison.candidates[0]!.changed_items,
      experimentId: experiment.id,
    };
    const { metrics } = comparison.candidates[0]!;
    const byName = new Map(namesOf(rules).map((name, index) => [name, metrics[index]!]));
    const judged = judgeRules(rules, byName, facts);
    const outcome = gateOutcome(judged);
    return {
      outcome,
      rules: judged,
      comparison,
      failed: experiment.failed,
      runs: experiment.runs,
      skipped: experiment.skipped,
      junit: junitOf(`assay: ${experiment.name}`, judged, undecided),
      markdown: markdownOf(outcome, judged, comparison),
    };
  };
}

/** Returns the metrics that rules compare, each once. */
const namesOf = (rules: readonly Rule[]) =>
  [...new Set(rules.map(({ metric }) => metric))].filter((metric) => metric !== UNGRADED);

function wantedMetrics(rules: readonly Rule[]) {
  return namesOf(rules).map((metric) => ({
    metric,
    margin: marginOf(rules, metric),
    isTested: rules.some((rule) => rule.metric === metric && rule.test.kind !== 'bound'),
  }));
}

function marginOf(rules: readonly Rule[], metric: string): Amount | null {
  for (const rule of rules)
    if (rule.metric === metric && rule.test.kind === 'not-worse') return rule.test.margin;
  return null;
}

/** @throws AssayError conflict */
function refuseUnended({ name, state, paused_reason, pending, running, ungraded }: ExperimentJson): void {
  if (state === 'completed' && ungraded === 0) return;
  const why = paused_reason === null ? '' : ` (${paused_reason})`;
  throw new AssayError(
    'conflict',
    `The experiment "${name}" is ${state}${why}: ${pending + running} answers and ${ungraded} grades are missing`,
  );
}
