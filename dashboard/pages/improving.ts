/** Pages that grade answers and change what is asked. Fetched together: apart, what they share would be many small files. */

export { EvaluatorPage } from './evaluator/evaluator.tsx';
export { Evaluators } from './evaluators/evaluators.tsx';
export { Playground } from './playground/playground.tsx';
export { PromptPage } from './prompt/prompt.tsx';
export { Prompts } from './prompts/prompts.tsx';
