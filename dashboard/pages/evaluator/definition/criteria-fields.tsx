/** The criteria of a rubric: other judges, whose scores one call gives. */
import { isJudgeType } from '#core/evaluations/mod.ts';
import { call } from '../../../client/call.ts';
import type { Evaluator } from '../../../client/evaluators.ts';
import { useResource } from '../../../client/resource.ts';
import { FailureNotice } from '../../../parts/failure/failure.tsx';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { type FormProps, faultOf } from './fields.tsx';

/** Returns whether an evaluator can be a criterion: its judge is asked a question about the answer, and nothing more. */
function isFit({ scoring_type, llm_template: template }: Evaluator): boolean {
  if (!isJudgeType(scoring_type) || template === null) return false;
  return !template.prompt.includes('{{') && template.examples === undefined && template.jury === undefined;
}

/** Shows the evaluators that fit. */
export function CriteriaFields({ draft: { criteria, scope }, onChange, fault }: FormProps) {
  const { data, failure, reload } = useResource(`criteria ${scope}`, (signal) =>
    call<Evaluator[]>('POST', '/v1/evaluator/query', { scope }, signal),
  );
  const sentence = faultOf(fault, 'criteria');
  const fit = (data ?? []).filter(isFit);
  const isChosen = (id: string) => criteria.some((one) => one.id === id);
  const toggle = (id: string) =>
    onChange({ criteria: isChosen(id) ? criteria.filter((one) => one.id !== id) : [...criteria, { id }] });
  return (
    <fieldset class="evaluator-choices">
      <legend>Criteria</legend>
      <p class="field-hint">
        Two to twenty judges without variables, examples or a jury. One call gives all of their scores, each
        under the criterion's own name.
      </p>
      {sentence !== null && (
        <p class="bad" role="alert">
          {sentence}
        </p>
      )}
      <FailureNotice failure={failure} retry={reload} />
      {data !== null && fit.length === 0 && <p>There is no judge that could be a criterion yet.</p>}
      {fit.map(({ id, name }) => (
        <label key={id}>
          <input type="checkbox" checked={isChosen(id)} onChange={() => toggle(id)} /> <Hostile text={name} />
        </label>
      ))}
    </fieldset>
  );
}
