/** Ids of users in the form that a provider takes. One that it would refuse becomes its SHA-256: still one id for each user. */
import { hash } from 'node:crypto';

/** OpenAI refuses a longer `user`, OpenRouter one of more than 128 characters. Claude Code's has 150 and more. */
const LONGEST_OPENAI_USER = 64;

/** Returns a user's id as OpenAI's dialect takes it for `user`. A SHA-256 has just 64 characters. */
export function toOpenAiUser(id: string): string {
  return id.length <= LONGEST_OPENAI_USER ? id : sha256(id);
}

const LONGEST_ANTHROPIC_USER = 256;
/** Email addresses and telephone numbers, which many applications have as `user`, and Anthropic refuses. */
const PERSONAL = /@|^\+?[\d\s().-]{7,}$/;

/**
 * Returns a user's id as Anthropic takes it for `metadata.user_id`, which "should be a uuid, hash value, or other opaque
 * identifier": https://platform.claude.com/docs/en/api/messages/create
 */
export function toAnthropicUser(id: string): string {
  return id.length <= LONGEST_ANTHROPIC_USER && !PERSONAL.test(id) ? id : sha256(id);
}

function sha256(id: string): string {
  return hash('sha256', id);
}
