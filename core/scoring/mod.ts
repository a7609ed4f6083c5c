/** What scoring means, for whoever schedules, runs or shows evaluations. Pure. */
export * from './outcome.ts';
export { isSampled, samplingPoint } from './sampling.ts';
export { scoreKeyOf } from './score-key.ts';
export { readSubject, type StoredCall } from './subject.ts';
export { parseTemplate, renderTemplate, type Template } from './template.ts';
