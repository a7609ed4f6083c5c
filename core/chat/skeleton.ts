import { isObject, type JsonObject } from '../json/mod.ts';

/** Of chat completions, completions, embeddings and moderations; `type` is of Messages, `created_at` of Responses. */
const KEPT = ['id', 'object', 'type', 'created', 'created_at', 'model', 'usage', 'service_tier'];

/**
 * What remains of an answer whose text its caller asked not to log: id, model and usage, so that tokens and cost are
 * still counted. Nothing that the model said.
 */
export function answerSkeleton(answer: unknown): JsonObject {
  if (!isObject(answer)) return {};
  const skeleton: JsonObject = {};
  for (const name of KEPT) {
    if (answer[name] !== undefined) skeleton[name] = answer[name];
  }
  return skeleton;
}
