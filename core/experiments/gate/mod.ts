/** Gates: rules that an experiment must meet, decided by its comparison with a baseline. Pure. */
export { type GateFacts, gateOutcome, judgeRules } from './judge.ts';
export { junitOf } from './junit.ts';
export { markdownOf } from './markdown.ts';
export { type Amount, parseRules, type Rule, UNGRADED } from './rules.ts';
