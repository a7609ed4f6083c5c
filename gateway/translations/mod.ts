/**
 * Translations of calls in one dialect for providers of another, and of the answers back: a file for each, made of a reader and a
 * writer of `gateway/dialects`.
 */

export { type Translated, translateBody } from './translate-body.ts';
export type { RequestChange } from './translate-request.ts';
export type { AnswerOrigin, Translation } from './translation.ts';
export { TRANSLATIONS, translationFor } from './translations.ts';
