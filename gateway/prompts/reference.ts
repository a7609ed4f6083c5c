/** The fields of a body that name its stored prompt, and the prompt's inputs. */
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import type { ScannedMembers } from '#core/json/mod.ts';
import { type Inputs, NO_INPUTS, PROMPT_FIELDS, readInputs } from '#core/prompts/mod.ts';
import { isUuid } from '#platform/process/ids.ts';
import type { PromptReference } from '#platform/prompts/mod.ts';

/** The members of a body that are read before its prompt is known. */
export const CALL_FIELDS = [...PROMPT_FIELDS, 'model'];

/** The environment of a body that names neither version nor environment. */
const DEFAULT_ENVIRONMENT = 'production';

const MAX_NAME_BYTES = 4 * 1024;

/** The prompt fields of a body. */
export type PromptCall = {
  readonly reference: PromptReference;
  readonly inputs: Inputs;
  /** The model of the call; null: it names none, and the prompt's is used. */
  readonly model: string | null;
};

/**
 * Reads the prompt fields of a body.
 * @param scanned the result of scanning `bytes` for CALL_FIELDS
 * @throws AssayError invalid_body, or unknown_prompt when an id can be no prompt's
 */
export function readPromptCall(bytes: Buffer, scanned: ScannedMembers, organizationId: string): PromptCall {
  const [promptId, versionId, environment] = PROMPT_FIELDS.slice(0, 3).map((name) =>
    readName(bytes, scanned, name),
  );
  if (promptId === null || promptId === undefined)
    throw invalidField('prompt_id', 'must be a string: the id of a stored prompt');
  const inputs = lastOf(bytes, scanned, 'inputs');
  return {
    reference: referenceOf(organizationId, promptId, versionId ?? null, environment ?? null),
    inputs: inputs === null ? NO_INPUTS : readInputs(inputs),
    model: readName(bytes, scanned, 'model'),
  };
}

function referenceOf(
  organizationId: string,
  promptId: string,
  versionId: string | null,
  environment: string | null,
): PromptReference {
  if (versionId !== null && environment !== null)
    throw new AssayError('invalid_body', 'version_id and environment exclude each other: send one of them');
  const prompt = { organizationId, promptId: promptId.toLowerCase() };
  if (versionId !== null) {
    const reference = { ...prompt, versionId: versionId.toLowerCase() };
    if (isUuid(promptId) && isUuid(versionId)) return reference;
    throw unknownPrompt(reference);
  }
  const reference = { ...prompt, environment: environment ?? DEFAULT_ENVIRONMENT };
  // Postgres holds no NUL, so that no environment has one.
  if (isUuid(promptId) && storableText(reference.environment) === reference.environment) return reference;
  throw unknownPrompt(reference);
}

/** Returns the error for a version that the organization does not have. */
export function unknownPrompt(reference: PromptReference): AssayError {
  const version =
    'versionId' in reference
      ? `the version_id ${quoteValue(reference.versionId)}`
      : `the environment ${quoteValue(reference.environment)}`;
  return new AssayError(
    'unknown_prompt',
    `There is no stored prompt with the prompt_id ${quoteValue(reference.promptId)} and a version with ${version}`,
  );
}

/** Returns a string of the body, or null where there is none. */
function readName(bytes: Buffer, scanned: ScannedMembers, name: string): string | null {
  const json = lastOf(bytes, scanned, name);
  if (json === null) return null;
  if (json.length > MAX_NAME_BYTES)
    throw invalidField(name, `may be at most ${MAX_NAME_BYTES} bytes long, but has ${json.length}`);
  const value: unknown = JSON.parse(json.toString('utf8'));
  if (value === null || typeof value === 'string') return value;
  throw invalidField(name, `must be a string, but is ${quoteValue(value)}`);
}

/** Returns the JSON of a member. Of a repeated name the last counts, as for `JSON.parse`. */
function lastOf(bytes: Buffer, { spans }: ScannedMembers, name: string): Buffer | null {
  const last = spans.get(name)!.at(-1);
  return last === undefined ? null : bytes.subarray(last.start, last.end);
}
