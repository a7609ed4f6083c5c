import t from 'tap';
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
import type {
  DryRun,
  Evaluation,
  Evaluator,
  EvaluatorVersion,
  ExternalTrial,
  LlmTrial,
  OnlineEvaluator,
  PythonTrial,
  Run,
  Stats,
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
