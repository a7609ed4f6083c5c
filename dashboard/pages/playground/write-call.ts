/** The call that a column makes. Pure. */
import type { PlaygroundBody } from '#core/contracts/playground.ts';
import type { PromptVariableJson } from '#core/contracts/prompt.ts';
import type { JsonObject } from '#core/json-values/mod.ts';
import { parseField } from '../../parts/draft/messages.ts';
import { type Column, type Draft, PATHS, writeBody } from './draft.ts';

/** Returns an input as it is sent: a variable with a type gets its JSON. @throws Error that names the variable */
function inputValue({ name, type }: PromptVariableJson, text: string): unknown {
  if (type === null || type === 'string') return text;
  const value = parseField(text, `The input ${name} must be JSON of the type ${type}`);
  if (type !== 'json' && typeof value !== type) throw new Error(`The input ${name} must be a ${type}`);
  return value;
}

/** Returns a stored input as it is typed. */
export function inputText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the call of a column.
 * @param variables of its version
 * @throws Error that says what is missing or not valid
 */
export function writeCall(
  draft: Draft,
  column: Column,
  variables: readonly PromptVariableJson[],
): PlaygroundBody {
  const { prompt } = column;
  if (column.model.trim() === '' && prompt === null) throw new Error('Choose a model');
  if (prompt !== null && prompt.versionId === '') throw new Error('Choose a version of the prompt');
  const talk = column.own ?? draft.talk;
  if (talk.messages.length === 0 && prompt === null) throw new Error('Add a message');
  const given = variables.filter(({ name }) => prompt?.inputs[name] !== undefined);
  const stored: JsonObject =
    prompt === null
      ? {}
      : {
          prompt_id: prompt.promptId,
          version_id: prompt.versionId,
          inputs: Object.fromEntries(
            given.map((variable) => [variable.name, inputValue(variable, prompt.inputs[variable.name]!)]),
          ),
        };
  // Without it, tokens of a stream are estimated.
  const usage = draft.dialect === 'chat' ? { stream_options: { include_usage: true } } : {};
  return {
    path: PATHS[draft.dialect],
    body: { ...writeBody(draft, column), ...stored, stream: true, ...usage },
  };
}
