/** Builds the call that a target makes of an item. Pure. */
import type { Target } from '../contracts/experiment.ts';
import { isObject, type JsonObject } from '../json/mod.ts';

/** An item of a dataset, as far as a call needs it. */
export type ItemContent = {
  /** The body of a chat completion, or an object with `inputs` alone. */
  request: JsonObject;
  metadata: JsonObject;
};

/** The targets that Assay calls by itself. */
export type CalledTarget = Extract<Target, { kind: 'model' | 'prompt' | 'replay' }>;

/** The body of a call, or why an item cannot be asked. */
export type ItemRequest = { body: JsonObject } | { skipped: 'no_messages'; message: string };

/** Members that say how an answer is sent: each is sent whole. */
const DELIVERY = ['stream', 'stream_options'];
/** Members of a call that name a stored prompt. */
const PROMPT_REFERENCE = ['prompt_id', 'version_id', 'environment', 'inputs'];

const NO_MESSAGES: ItemRequest = {
  skipped: 'no_messages',
  message: 'The item has neither messages nor a stored prompt, which this target needs',
};

/**
 * Returns the body of the call. Members of the item that the target does not name stay as they are.
 * @example requestOf({ kind: 'model', model: 'gpt-4o-mini' }, item) // { body: { …item.request, model: 'gpt-4o-mini' } }
 */
export function requestOf(target: CalledTarget, { request, metadata }: ItemContent): ItemRequest {
  const rest = without(request, DELIVERY);
  switch (target.kind) {
    case 'model':
      return asked({ ...rest, ...target.parameters, model: target.model });
    case 'replay':
      return asked(overridden(rest, target.overrides ?? {}));
    case 'prompt': {
      const { promptId, versionId, environment, model } = target;
      const inputs = inputsOf(request, metadata);
      // Messages of a request that was logged with its inputs are those of its prompt, which this one stands in for.
      const isFilled = inputs !== null && request.prompt_id === undefined;
      const own = without(rest, [...PROMPT_REFERENCE, 'model', ...(isFilled ? ['messages'] : [])]);
      return {
        body: {
          ...own,
          prompt_id: promptId,
          // The version that the environment named when the experiment was made.
          ...(versionId !== undefined
            ? { version_id: versionId }
            : environment !== undefined && { environment }),
          ...(model !== undefined && { model }),
          inputs: inputs ?? {},
        },
      };
    }
  }
}

function asked(body: JsonObject): ItemRequest {
  const hasQuestion = Array.isArray(body.messages) || typeof body.prompt_id === 'string';
  return hasQuestion ? { body: without(body, DELIVERY) } : NO_MESSAGES;
}

function inputsOf(request: JsonObject, metadata: JsonObject): JsonObject | null {
  if (isObject(request.inputs)) return request.inputs;
  return isObject(metadata.inputs) ? metadata.inputs : null;
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Returns the object with members replaced; null removes one. */
function overridden(object: JsonObject, overrides: JsonObject): JsonObject {
  const merged: JsonObject = { ...object, ...overrides };
  return Object.fromEntries(
    Object.entries(merged).filter(([name, value]) => value !== null || !(name in overrides)),
  );
}
