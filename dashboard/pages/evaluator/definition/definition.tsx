/** The definition of an evaluator, to read, to change, and to try out. */
import type { Evaluator } from '../../../client/evaluators.ts';
import { draftOf } from './draft.ts';
import { Editor } from './editor.tsx';

export type DefinitionProps = { evaluator: Evaluator; onSaved: (evaluator: Evaluator) => void };

/** Shows the form with the current version. */
export function Definition({ evaluator, onSaved }: DefinitionProps) {
  return <Editor saved={evaluator} first={draftOf(evaluator)} onSaved={onSaved} />;
}
