/** A client aborts its calls: the provider is let go at once, and the record says who left. */
import type { Test } from 'tap';
import { waitFor } from '../../support/assay.ts';
import { leastOf } from '../../support/least-of.ts';
import type { ScriptedProvider } from '../../support/scripted-provider.ts';
import type { World } from './world.ts';

/** One call with this question, to be aborted by the signal; tells of each piece of a stream. */
export type AbortableCall = (question: string, options: AbortOptions) => Promise<unknown>;

export type AbortOptions = {
  /** The case's. */
  headers: Record<string, string>;
  stream: boolean;
  signal: AbortSignal;
  onPiece: () => void;
};

export type Aborting = {
  /** Of the client, for the names of the cases. */
  name: string;
  /** Who hears the question. */
  provider: ScriptedProvider;
  path: string;
  call: AbortableCall;
  /** What is expected of the error of a call that was aborted before anything had come. */
  isAbortError: (error: unknown) => boolean;
};

const MOMENTS = [
  ['plain', '/hang', false],
  ['before the first token', '/hang', true],
  ['in the middle of a stream', '/stall', true],
] as const;

/** So soon is a provider to hear of it. */
const LET_GO_WITHIN_MS = 100;

/** Before anything has come and after: the provider hears of the abort within 100 ms, and each is one record. */
export async function checkAborts(t: Test, world: World, aborting: Aborting): Promise<void> {
  const { name, provider, path, call, isAbortError } = aborting;
  const recorded: Promise<unknown>[] = [];
  for (const [moment, question, stream] of MOMENTS) {
    const leastMs = await leastOf(
      3,
      async (round) => {
        const { headers, logged } = world.newCase(`${name} abort ${moment} ${round}`);
        const before = provider.requests.length;
        const controller = new AbortController();
        let pieces = 0;
        const onPiece = () => {
          pieces += 1;
        };
        const called = call(question, { headers, stream, signal: controller.signal, onPiece }).then(
          () => null,
          (error: unknown) => error,
        );
        const hasBegun = () => provider.requests.length > before && (question === '/hang' || pieces > 1);
        await waitFor(`the call of ${name} to be under way`, hasBegun);
        const abortedAtMs = performance.now();
        controller.abort();
        const error = await called;
        // Some clients end an aborted stream without an error.
        if (question === '/hang') t.ok(isAbortError(error), `${moment}: the client says that it was aborted`);
        const seen = provider.requests.at(-1);
        await seen?.ended;
        const delivery = { truncated: true, stream: pieces > 0 };
        const expected = [{ response_status: 499, request_path: path, delivery }];
        recorded.push(logged(1).then((records) => t.match(records, expected)));
        return (seen?.abortedAtMs ?? Number.POSITIVE_INFINITY) - abortedAtMs;
      },
      LET_GO_WITHIN_MS,
    );
    t.ok(leastMs < LET_GO_WITHIN_MS, `${moment}: the provider is let go at once`);
  }
  await Promise.all(recorded);
}
