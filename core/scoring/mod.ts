/** The vocabulary and pure rules of scoring, shared by the roles that schedule, run and show evaluations. */
export * from '../evaluations/mod.ts';
export { cleanText } from './clean-text.ts';
export { mayAgree, settleJury } from './jury.ts';
export * from './outcome.ts';
export { pairChoices, pairLabel, pairPrompt, pairSubject } from './pair.ts';
export { isSampled, samplingPoint } from './sampling.ts';
export type { StoredSession, StoredTurn } from './session.ts';
export { readSubject, type StoredRecord } from './subject.ts';
export { jsonAsData, parseTemplate, renderTemplate } from './template.ts';
export { MAX_VERDICT_TOKENS } from './verdict-tokens.ts';
