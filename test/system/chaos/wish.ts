/** What a call asks for: written into its body, so that the provider, in another process, does as the client wishes. */
import { parseChatRequest } from '../../support/scripted/openai-dialect.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';

export type Wish = {
  isStream: boolean;
  /** Of the answer. */
  words: number;
  /** Before a plain answer, or between the words of a stream. */
  pauseMs: number;
  /** Of the answer: 200, or an error of the provider's. */
  status: number;
  /** Of the question, in characters. */
  questionLength: number;
  /** The client hangs up when it has so many words of a stream; null: it stays. */
  leavesAfter: number | null;
  /** The client chooses the request's id. */
  choosesId: boolean;
};

const ERROR_STATUSES = [400, 429, 500, 503];
const VOCABULARY = ['the', 'model', 'says', 'Zürich', 'at', 'length', '🦜', 'and', 'once', 'more'];

/** Of all calls. Larger than a message of the broker: they travel in parts. */
const HUGE_SHARE = 0.001;
const LARGE_SHARE = 0.01;
const ERROR_SHARE = 0.02;
const CHOSEN_ID_SHARE = 0.01;
const STREAM_SHARE = 0.5;
/** Of the streams. */
const LEAVING_SHARE = 0.2;
const PACED_SHARE = 0.15;

function between(least: number, most: number, random: () => number): number {
  return Math.floor(least + random() * (most - least + 1));
}

function questionLength(random: () => number): number {
  const share = random();
  if (share < HUGE_SHARE) return between(1_100_000, 2_500_000, random);
  if (share < LARGE_SHARE) return between(10_000, 200_000, random);
  return between(20, 1_200, random);
}

/** A call as most are: over in some milliseconds. */
export function quickWish(random: () => number): Wish {
  const plain: Wish = {
    isStream: false,
    words: random() < HUGE_SHARE ? 250_000 : between(10, 80, random),
    pauseMs: random() < PACED_SHARE ? between(1, 30, random) : 0,
    status: random() < ERROR_SHARE ? ERROR_STATUSES[between(0, 3, random)]! : 200,
    questionLength: questionLength(random),
    leavesAfter: null,
    choosesId: random() < CHOSEN_ID_SHARE,
  };
  if (random() >= STREAM_SHARE) return plain;
  const words = between(4, 24, random);
  const stream = { ...plain, isStream: true, status: 200, words };
  if (random() < LEAVING_SHARE) {
    return { ...stream, pauseMs: between(2, 6, random), leavesAfter: between(1, words - 2, random) };
  }
  return { ...stream, pauseMs: random() < PACED_SHARE ? between(2, 6, random) : 0 };
}

/** A stream that takes seconds: most faults meet one. */
export function slowWish(random: () => number): Wish {
  const words = between(10, 40, random);
  return {
    isStream: true,
    words,
    pauseMs: between(50, 400, random),
    status: 200,
    questionLength: between(20, 1_200, random),
    leavesAfter: random() < LEAVING_SHARE ? between(1, words - 2, random) : null,
    choosesId: random() < CHOSEN_ID_SHARE,
  };
}

/** The answer to a call, in words with their spaces. The first two name the call. */
export function answerWords(call: number, words: number): string[] {
  const rest = Array.from(
    { length: words },
    (_, index) => ` ${VOCABULARY[(call + index) % VOCABULARY.length]}`,
  );
  return ['call', ` ${call}`, ...rest];
}

/** What the provider says of a failure that was wished for: the gateway has failures of its own with the same status. */
export function failureOf(call: number): string {
  return `Call ${call} was to fail`;
}

/** The body of a call. */
export function bodyOf(
  call: number,
  { isStream, words, pauseMs, status, questionLength: length }: Wish,
): Buffer {
  const question = `Call ${call}: `.padEnd(length, 'What does the model say? ');
  return Buffer.from(
    JSON.stringify({
      model: 'gpt-4o-mini',
      stream: isStream,
      messages: [{ role: 'user', content: question }],
      metadata: { call, words, pauseMs, status },
    }),
  );
}

/** What the provider is to do, and with which call. */
export function behaviourFor(body: Buffer): { call: number; behaviour: Behaviour } {
  const chat = parseChatRequest(body) as ReturnType<typeof parseChatRequest> & {
    metadata: { call: number } & Pick<Wish, 'words' | 'pauseMs' | 'status'>;
  };
  const { call, words, pauseMs, status } = chat.metadata;
  if (status !== 200) return { call, behaviour: { kind: 'error', status, message: failureOf(call) } };
  const deltas = answerWords(call, words);
  return {
    call,
    behaviour:
      chat.stream === true
        ? { kind: 'stream', deltas, everyMs: pauseMs }
        : { kind: 'answer', text: deltas.join(''), delayMs: pauseMs },
  };
}
