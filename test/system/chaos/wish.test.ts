import t from 'tap';
import { seededRandom } from '../../support/random.ts';
import { answerWords, behaviourFor, bodyOf, quickWish, slowWish } from './wish.ts';

const random = seededRandom(1);
const quick = Array.from({ length: 20_000 }, () => quickWish(random));
const slow = Array.from({ length: 1_000 }, () => slowWish(random));

t.test('the scripted provider behaves as the request asks', async (t) => {
  const plain = { ...quick[0]!, isStream: false, words: 2, pauseMs: 3, status: 200 };
  t.match(behaviourFor(bodyOf(7, plain)), {
    call: 7,
    behaviour: { kind: 'answer', text: answerWords(7, 2).join(''), delayMs: 3 },
  });
  t.match(behaviourFor(bodyOf(7, { ...plain, isStream: true })), {
    behaviour: { kind: 'stream', deltas: answerWords(7, 2), everyMs: 3 },
  });
  t.match(behaviourFor(bodyOf(7, { ...plain, status: 429 })), {
    behaviour: { kind: 'error', status: 429, message: 'Call 7 was to fail' },
  });
});

t.test('no two calls have the same answer', async (t) => {
  const answers = Array.from({ length: 1_000 }, (_, call) => answerWords(call, 20).join(''));
  t.equal(new Set(answers).size, answers.length);
});

t.test('a fifth of the streaming clients disconnect in the middle, and no others', async (t) => {
  for (const streams of [quick.filter(({ isStream }) => isStream), slow]) {
    const share = streams.filter(({ leavesAfter }) => leavesAfter !== null).length / streams.length;
    t.ok(share > 0.15 && share < 0.25, String(share));
  }
  t.ok([...quick, ...slow].every((wish) => wish.leavesAfter === null || wish.isStream));
  t.ok([...quick, ...slow].every(({ leavesAfter, words }) => leavesAfter === null || leavesAfter < words));
});

t.test('some requests and some responses exceed the message size of NATS', async (t) => {
  t.ok(quick.some(({ questionLength }) => questionLength > 1_048_576));
  t.ok(quick.some(({ words, isStream }) => !isStream && answerWords(1, words).join('').length > 1_048_576));
});
