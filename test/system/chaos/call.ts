/** A chat completion that a client asks a gateway for, and what became of it. */
import { createHash } from 'node:crypto';
import { type Exchange, post, type Received } from './exchange.ts';
import type { CallNote } from './ledger.ts';
import { answerWords, bodyOf, failureOf, type Wish } from './wish.ts';

/** What a client knows of its call at the end. */
export type CallResult = Pick<
  CallNote,
  'end' | 'status' | 'requestId' | 'isLogged' | 'requestDigest' | 'answerDigest' | 'why'
>;

/** Who is called, and how. */
export type Line = Pick<Exchange, 'agent' | 'key'> & { url: string };

const DONE = 'data: [DONE]\n\n';
const QUOTED_CHARACTERS = 200;

/** Tells texts from each other; the same as Postgres's `md5`. */
export function digest(text: string | Buffer): string {
  return createHash('md5').update(text).digest('hex');
}

/**
 * Makes a call. Never rejects.
 * @param requestId given when the client chooses it
 */
export async function callChat(
  { url, ...line }: Line,
  call: number,
  wish: Wish,
  requestId: string | null,
): Promise<CallResult> {
  const body = bodyOf(call, wish);
  let frames = 0;
  const received = await post({
    ...line,
    url: `${url}/v1/chat/completions`,
    body,
    headers: {
      'service-user-id': String(call),
      ...(requestId !== null && { 'service-request-id': requestId }),
    },
    isEnough: (piece) => {
      frames += piece.toString('latin1').split('data: ').length - 1;
      return wish.leavesAfter !== null && frames > wish.leavesAfter;
    },
  });
  const id = received.headers['service-request-id'];
  return {
    status: received.status,
    requestId: typeof id === 'string' ? id : null,
    isLogged: received.headers['service-logged'] !== 'false',
    requestDigest: digest(body),
    ...endOf(call, wish, received),
  };
}

function endOf(
  call: number,
  wish: Wish,
  received: Received,
): Pick<CallResult, 'end' | 'answerDigest' | 'why'> {
  const { status, text, isWhole, hasLeft, why } = received;
  const isWished = status === wish.status && (status === 200 || text.includes(failureOf(call)));
  if (!isWished && isWhole) {
    return { end: 'refused', answerDigest: null, why: text.slice(0, QUOTED_CHARACTERS) };
  }
  const isAnswered = isWished && (isWhole || text.includes(DONE));
  const isTorn = wish.isStream && !text.includes(DONE);
  if (!isAnswered || isTorn) {
    const ending = why ?? `it ended with ${JSON.stringify(text.slice(-QUOTED_CHARACTERS))}`;
    return { end: hasLeft ? 'left' : 'lost', answerDigest: null, why: hasLeft ? null : ending };
  }
  if (status !== 200) return { end: 'answered', answerDigest: null, why: null };
  const answer = wish.isStream ? streamedText(text) : plainText(text);
  const isOwn = answer === answerWords(call, wish.words).join('');
  return {
    end: 'answered',
    answerDigest: digest(answer),
    why: isOwn ? null : 'the answer is not the one to this call',
  };
}

type Choice = { message?: { content?: string }; delta?: { content?: string } };

function plainText(body: string): string {
  return (JSON.parse(body) as { choices: Choice[] }).choices[0]?.message?.content ?? '';
}

function streamedText(body: string): string {
  return body
    .slice(0, body.indexOf(DONE))
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => (JSON.parse(frame.slice('data: '.length)) as { choices: Choice[] }).choices[0])
    .map((choice) => choice?.delta?.content ?? '')
    .join('');
}
