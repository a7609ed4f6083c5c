/** Ids of users in the form that a provider takes. One that it would refuse becomes its SHA-256: still one id for each user. */
import { hash } from 'node:crypto';
import { isObject, textOrNull } from '#core/json/mod.ts';

/** OpenAI refuses a longer `user`, OpenRouter one of more than 128 characters. Claude Code's has 150 and more. */
const LONGEST_OPENAI_USER = 64;

/** Returns a user's id as OpenAI's dialect takes it for `user`. A SHA-256 has just 64 characters. */
export function toOpenAiUser(id: string): string {
  return id.length <= LONGEST_OPENAI_USER ? id : sha256(id);
}

/** `metadata.user_id` of older versions of Claude Code. */
const CLAUDE_CODE = /^user_([0-9a-f]+)_account_([\w-]*?)_session_/;

/**
 * Returns the user of a Messages request. Claude Code joins the device, the account and the session in `metadata.user_id`, so that each
 * session would be a user: the account is taken, or the device where there is none.
 */
export function userOfMetadata(id: string): string {
  const [, device, account] = CLAUDE_CODE.exec(id) ?? [];
  if (device !== undefined) return account || device;
  if (!id.startsWith('{')) return id;
  const told = parseOrNull(id);
  if (!isObject(told) || textOrNull(told.session_id) === null) return id;
  return textOrNull(told.account_uuid) || textOrNull(told.device_id) || id;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
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
