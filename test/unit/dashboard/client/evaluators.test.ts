import t from 'tap';
import { SCORERS as KNOWN_SCORERS, SECRET_MARK as MARK } from '#core/contracts/external-shape.ts';
import { EVALUATION_STATES as KNOWN_STATES, SCORING_TYPES as KNOWN_TYPES } from '#core/scoring/mod.ts';
import type {
  DryRunJson,
  EvaluationJson,
  EvaluatorJson,
  ExternalTestJson,
  LlmTestJson,
  OnlineEvaluatorJson,
  PythonTestJson,
  RunJson,
  StatsJson,
  VersionJson,
} from '../../../../api/evaluators/mod.ts';
import {
  type DryRun,
  EVALUATION_STATES,
  type Evaluation,
  type Evaluator,
  type EvaluatorVersion,
  type ExternalTrial,
  type LlmTrial,
  type OnlineEvaluator,
  type PythonTrial,
  type Run,
  SCORERS,
  SCORING_TYPES,
  SECRET_MARK,
  type Stats,
} from '../../../../dashboard/client/evaluators.ts';

/** Compiles only if everything that the API answers fits the type of the pages. */
const fits = <Answer extends Page, Page>(_?: [Answer, Page]) => true;

t.test('What the API answers fits the types of the pages', async (t) => {
  t.ok(fits<DryRunJson, DryRun>());
  t.ok(fits<EvaluationJson, Evaluation>());
  t.ok(fits<EvaluatorJson, Evaluator>());
  t.ok(fits<VersionJson, EvaluatorVersion>());
  t.ok(fits<ExternalTestJson, ExternalTrial>());
  t.ok(fits<LlmTestJson, LlmTrial>());
  t.ok(fits<OnlineEvaluatorJson, OnlineEvaluator>());
  t.ok(fits<PythonTestJson, PythonTrial>());
  t.ok(fits<RunJson, Run>());
  t.ok(fits<StatsJson, Stats>());
});

t.test('The words of evaluators on the pages are those of the API', async (t) => {
  t.same(SCORING_TYPES, KNOWN_TYPES);
  t.same(EVALUATION_STATES, KNOWN_STATES);
  t.same(SCORERS, KNOWN_SCORERS);
  t.equal(SECRET_MARK, MARK);
});
