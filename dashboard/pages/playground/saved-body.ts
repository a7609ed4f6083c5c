/** What is saved of a column as a prompt. */
import type { JsonObject } from '#core/json-values/mod.ts';
import { loadVersion } from '../../parts/prompts/load.ts';
import { type Column, type Draft, writeBody } from './draft.ts';

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/**
 * Returns a stored body with that of a call added, as a call of the prompt expands: the messages follow those of the prompt, and
 * of all other members those of the call win.
 * @internal exported for tests: the rest of the way needs a page
 */
export function mergeBodies(stored: JsonObject, called: JsonObject): JsonObject {
  return { ...stored, ...called, messages: [...listOf(stored.messages), ...listOf(called.messages)] };
}

/**
 * Returns the body of a column, after that of its prompt when it calls one.
 * @throws Error that says what is not valid, ApiFailure
 */
export async function savedBody(draft: Draft, column: Column): Promise<JsonObject> {
  const body = writeBody(draft, column);
  const versionId = column.prompt?.versionId ?? '';
  if (versionId === '') return body;
  if (draft.dialect !== 'chat') throw new Error('Only chat completions can be added to a stored prompt');
  const { prompt_body: stored } = await loadVersion(versionId);
  return mergeBodies(stored, body);
}
