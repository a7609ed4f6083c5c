import type { NewPromptBody, PromptVariableJson } from '#core/contracts/prompt.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { parsePrompt } from '#core/prompts/mod.ts';

type WithPromptBody = Pick<NewPromptBody, 'promptBody'>;

/** A body that fits its schema, and the text of its `promptBody`. */
export type Sent<Body extends WithPromptBody> = { body: Body; written: readonly (Buffer | null)[] };

/** The body of a version as it is stored, and what lists show of it. */
export type StoredBody = { body: string; model: string | null; variables: PromptVariableJson[] };

/**
 * Reads the body of a version, and checks that the gateway can expand it.
 * @throws AssayError invalid_body
 */
export function readPromptBody({ body: { promptBody }, written: [text] }: Sent<WithPromptBody>): StoredBody {
  // Postgres can hold the text as it is: JSON writes NUL and lone surrogates as escapes.
  const body = text!.toString();
  return {
    body,
    model: promptBody.model === undefined ? null : storableText(promptBody.model),
    variables: parsePrompt(body).variables.map(({ name, type }) => ({ name, type })),
  };
}
