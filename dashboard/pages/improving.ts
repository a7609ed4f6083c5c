/** Pages that grade answers and change what is asked. Fetched together: apart, what they share would be many small files. */

export { CriterionPage } from './criterion/criterion.tsx';
export { EvaluatorPage } from './evaluator/evaluator.tsx';
export { Evaluators } from './evaluators/evaluators.tsx';
export { Playground } from './playground/playground.tsx';
export { PromptPage } from './prompt/prompt.tsx';
export { Prompts } from './prompts/prompts.tsx';
export { Review } from './review/review.tsx';
export { ReviewQueuePage } from './review-queue/review-queue.tsx';
