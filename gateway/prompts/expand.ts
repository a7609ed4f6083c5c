/** Expands the stored prompts of calls. */
import { AssayError } from '#core/contracts/errors.ts';
import { expandPrompt, mergePrompt, namesToScan } from '#core/prompts/mod.ts';
import { joinBytesInTurns } from '#platform/process/turns.ts';
import type { PromptDirectory } from '#platform/prompts/mod.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import { findMembers, type PromptedBody, parseRequestBody, type RequestBody } from '../request/body.ts';
import type { Caller } from '../request/call.ts';
import { PROMPT_FORMS } from './prompt-forms.ts';
import { CALL_FIELDS, readPromptCall, unknownPrompt } from './reference.ts';

/**
 * Largest expanded prompt, before the call's own messages join it. A stored body has up to 1 MiB and inputs 64 KiB, but a
 * prompt may mention an input many times; building this much takes some ten milliseconds.
 */
const MAX_EXPANDED_BYTES = 4 * 1024 * 1024;

export type PromptExpanderOptions = {
  prompts: Pick<PromptDirectory, 'find'>;
  /** Largest body of a request. */
  maxBodyBytes: number;
};

/**
 * Makes the function that expands the stored prompt of a body. From then on the call is as if its client had sent the
 * expanded body: limits, route plan, cache, provider and record see no other.
 *
 * The returned function takes room for what it makes the body longer by, before it does. It throws AssayError invalid_body,
 * unknown_prompt, body_too_large, bodies_busy or store_unavailable.
 */
export function createPromptExpander({ prompts, maxBodyBytes }: PromptExpanderOptions) {
  return async (
    { promptedBytes }: PromptedBody,
    endpoint: ApiEndpoint,
    { organizationId }: Pick<Caller, 'organizationId'>,
    growRoom: (bytes: number) => void,
  ): Promise<RequestBody> => {
    const form = PROMPT_FORMS[endpoint.providerEndpoint];
    if (form === undefined)
      throw new AssayError(
        'invalid_body',
        `prompt_id is not allowed on ${endpoint.path}: a stored prompt is the body of a chat`,
      );
    const named = await findMembers(promptedBytes, CALL_FIELDS);
    const { reference, inputs, model } = readPromptCall(promptedBytes, named, organizationId);
    const found = prompts.find(reference);
    const prompt = found instanceof Promise ? await found : found;
    if (prompt === null) throw unknownPrompt(reference);
    const maxBytes = Math.min(maxBodyBytes, MAX_EXPANDED_BYTES);
    const expanded = expandPrompt(prompt.template, inputs.values, maxBytes);
    const expandedBytes = sum(expanded.values(), Buffer.byteLength);
    growRoom(expandedBytes);
    const members = await form.shape(expanded, model);
    const scanned = await findMembers(promptedBytes, namesToScan(members));
    const pieces = mergePrompt(promptedBytes, scanned, members, form.lists, maxBodyBytes);
    const addedBytes = sum(pieces, ({ length }) => length) - promptedBytes.length;
    if (addedBytes > expandedBytes) growRoom(addedBytes - expandedBytes);
    const body = await parseRequestBody(await joinBytesInTurns(pieces), endpoint);
    return { ...body, prompt: { promptId: prompt.promptId, version: prompt.version, inputs: inputs.text } };
  };
}

function sum<Item>(items: Iterable<Item>, sizeOf: (item: Item) => number): number {
  let total = 0;
  for (const item of items) total += sizeOf(item);
  return total;
}
