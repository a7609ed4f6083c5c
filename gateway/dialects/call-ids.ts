/** Ids of tool calls that another provider has made, in the form that a provider takes: alike in a call and its result. */
import { hash } from 'node:crypto';

/** Anthropic takes only `[a-zA-Z0-9_-]+`: other characters of another provider's id are replaced by their code points. */
export function toAnthropicCallId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}

/** The ids that Mistral makes, and the only ones that it takes. */
const MISTRAL_CALL_ID = /^[a-zA-Z0-9]{9}$/;

/** Mistral takes only ids of nine letters and digits: another provider's id becomes as many of its hash. */
export function toMistralCallId(id: string): string {
  if (MISTRAL_CALL_ID.test(id)) return id;
  const letters = hash('sha256', id, 'base64').replace(/[^a-zA-Z0-9]/g, '');
  return letters.slice(0, 9);
}

const LONGEST_OPENAI_CALL_ID = 64;

/** In Responses, OpenAI takes ids of 64 characters: a longer one becomes its SHA-256, which has just as many. */
export function toOpenAiCallId(id: string): string {
  return id.length <= LONGEST_OPENAI_CALL_ID ? id : hash('sha256', id);
}
