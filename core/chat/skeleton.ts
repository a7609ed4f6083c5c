import { isObject, type JsonObject } from '../json-values/mod.ts';

/**
 * The members of an answer that its skeleton has: those of chat completions, completions, embeddings and moderations;
 * `type` is a member of Messages, `created_at` of Responses.
 */
export const SKELETON_MEMBERS: readonly string[] = [
  'id',
  'object',
  'type',
  'created',
  'created_at',
  'model',
  'usage',
  'service_tier',
];

/**
 * Returns the part of an answer that is logged although the caller asked not to log its text: id, model and usage, so
 * that tokens and cost are still counted. It holds nothing that the model said.
 */
export function answerSkeleton(answer: unknown): JsonObject {
  if (!isObject(answer)) return {};
  const skeleton: JsonObject = {};
  for (const name of SKELETON_MEMBERS) {
    if (answer[name] !== undefined) skeleton[name] = answer[name];
  }
  return skeleton;
}
