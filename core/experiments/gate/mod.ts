/** Gates: rules that an experiment must meet, decided by its comparison with a baseline. Pure. */
export { type GateFacts, gateOutcome, judgeRule } from './judge.ts';
export { junitOf } from './junit.ts';
export { markdownOf } from './markdown.ts';
export { type Amount, parseRules, type Rule } from './rules.ts';
