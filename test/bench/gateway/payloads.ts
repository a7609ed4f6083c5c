/** The bodies that the gateway benchmark sends and gets: exact sizes, the shapes of OpenAI's. */

import { completionJson, streamFrames } from '../../support/scripted/openai-dialect.ts';
import type { FixedAnswers } from '../../support/scripted-provider.ts';
import { prose } from '../prose.ts';

const MODEL = 'gpt-4o-mini';
const STREAM_FRAMES = 20;

/** Finds the text that makes `build(text)` exactly `bytes` long in JSON. */
function ofSize(bytes: number, build: (text: string) => unknown): string {
  const empty = JSON.stringify(build('')).length;
  let text = '';
  for (let length = bytes - empty; length >= 0; length -= 1) {
    text = prose(length);
    if (JSON.stringify(build(text)).length <= bytes) break;
  }
  // Escapes make the last step uneven; plain letters fill it up.
  return JSON.stringify(build(text + 'x'.repeat(bytes - JSON.stringify(build(text)).length)));
}

/**
 * A chat request of exactly `bytes`. One for a stream asks for its usage: some gateways ask for it themselves, and the provider's
 * stream would be longer behind them than behind others.
 */
export function chatRequestOf(
  bytes: number,
  stream: boolean,
  instruction = 'You are a helpful assistant.',
): string {
  return ofSize(bytes, (content) => ({
    model: MODEL,
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    messages: [
      { role: 'system', content: instruction },
      { role: 'user', content },
    ],
  }));
}

/** A plain answer of exactly `bytes`, and a stream of 20 words. */
export function fixedAnswers(bytes: number): FixedAnswers {
  const usage = { promptTokens: Math.ceil(bytes / 4), completionTokens: Math.ceil(bytes / 4) };
  const plain = ofSize(bytes, (text) => completionJson({ kind: 'answer', text, usage }, { model: MODEL }));
  const deltas = Array.from({ length: STREAM_FRAMES }, (_, index) => ` word${index}`);
  const frames = (includeUsage: boolean) => {
    const chat = { model: MODEL, stream_options: { include_usage: includeUsage } };
    return [...streamFrames({ kind: 'stream', deltas, usage }, chat)].map((frame) => Buffer.from(frame));
  };
  return { plain: Buffer.from(plain), stream: frames(false), streamWithUsage: frames(true) };
}
