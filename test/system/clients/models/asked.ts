/** What the scripted models of these tests say to a conversation, whatever dialect it came in. */
import { createHash } from 'node:crypto';
import { words } from '../../../support/scripted/openai-dialect.ts';
import { countTokens } from '../../../support/scripted-provider.ts';

export type Asked = {
  model: string;
  stream: boolean;
  /** The last thing that the user said. */
  question: string;
  /** The first tool on offer; null when there is none, or none may be called. */
  tool: string | null;
  /** What the tool answered, when that is the last word. */
  toolResult: string | null;
  /** The answer must fit a schema: that of `JSON_SCHEMA`. */
  wantsJson: boolean;
};

/** What a tool of these tests is asked, and what a structured answer of theirs is. */
export type Query = { query: string };
export const JSON_SCHEMA = {
  type: 'object',
  properties: { query: { type: 'string' } },
  required: ['query'],
  additionalProperties: false,
} as const;

export type Said = { kind: 'text'; text: string } | { kind: 'call'; tool: string; input: Query };

/** A tool that is on offer is called with the question; what it answers is repeated, as is a question without tools. */
export function sayTo({ question, tool, toolResult, wantsJson }: Asked): Said {
  if (tool !== null && toolResult === null) return { kind: 'call', tool, input: { query: question } };
  if (wantsJson) {
    const answer: Query = { query: toolResult ?? question };
    return { kind: 'text', text: JSON.stringify(answer) };
  }
  return {
    kind: 'text',
    text: toolResult === null ? `You said: ${question}` : `The tool said: ${toolResult}`,
  };
}

/** What a text or the arguments of a call are streamed as. */
export function piecesOf(said: Said): string[] {
  return words(said.kind === 'text' ? said.text : JSON.stringify(said.input));
}

/** The tokens of a question and what is said to it. */
export function tokensOf({ question, toolResult }: Asked, said: Said) {
  return { input: countTokens(question + (toolResult ?? '')), output: countTokens(piecesOf(said).join('')) };
}

/** An id that the same answer to the same question has, however often it is written. */
export function idOf(asked: Asked, said: Said): string {
  return createHash('sha256')
    .update(JSON.stringify([asked, said]))
    .digest('hex')
    .slice(0, 24);
}

/** All text of a content, which is text, or parts of which some have text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}
