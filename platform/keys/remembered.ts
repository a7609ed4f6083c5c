/**
 * What Postgres answered, kept in memory by a process that listens to changes of it. Answers are fresh only while it
 * listens, so a change counts everywhere at once; when Postgres is away, what was known goes on being believed, for an
 * hour.
 */
import { LRUCache } from 'lru-cache';
import { AssayError, describeError } from '#core/contracts/errors.ts';
import { createAvailability, isStoreUnavailable, StoreLateError } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';

export type Remembered<Subject, Answer> = {
  /**
   * The answer about what `id` names: at once when it is known, else from Postgres.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and the answer is not known
   */
  find(id: string, subject: Subject): Answer | Promise<Answer>;
  /** Something changed: answers about it are not to be believed any more, whatever becomes of Postgres. */
  forget(isChanged: (id: string, answer: Answer) => boolean): void;
  /** Something may have changed: every answer is asked for again, and believed until then only if Postgres is away. */
  askAgain(): void;
  /** Changes are heard from now on. */
  onListening(): void;
  /** Changes are not heard until `onListening` is called again. */
  onLost(): void;
};

export type RememberedOptions<Subject, Answer> = {
  clock: Clock;
  /**
   * Asks Postgres. Null is an answer too, that there is none; it is never kept, as what is new must count at once, and the
   * news of it may be late or lost. Made-up ids cost a look-up each, of which a bounded number is under way.
   */
  load(subject: Subject): Promise<Answer>;
  /** Answers to keep; one that falls out is asked for again. */
  max: number;
  /** What cannot be done while Postgres is away, as the beginning of a sentence. */
  failure: string;
};

/** How long an answer is fresh, should a notification get lost on a line that is dead without either end knowing. */
const FRESH_MS = 30_000;
/** How long an answer is believed while Postgres cannot be asked: longer than a failover, shorter than a working day. */
const STALE_MS = 3_600_000;
/** After a failed look-up, how long known answers are given without trying: an outage must not slow every call. */
const PAUSE_MS = 1_000;
/** How long a call waits for Postgres when there is a former answer, which is then believed for this time. */
const PATIENCE_MS = 1_000;
/** How long one without does: it cannot be let in. */
const LONGEST_PATIENCE_MS = 5_000;
/** Look-ups at a time: a flood of made-up ids must not pile up behind the pool. */
const MAX_LOOKUPS = 500;

type Known<Answer> = { answer: Answer; verifiedAt: number };

/** Makes an empty memory, of a process that does not listen yet. */
export function remember<Subject, Answer>(
  options: RememberedOptions<Subject, Answer>,
): Remembered<Subject, Answer> {
  const { clock, load, max, failure } = options;
  const known = new LRUCache<string, Known<Answer>>({ max });
  const lookups = new Map<string, Promise<Answer>>();
  const store = createAvailability({
    clock,
    patienceMs: LONGEST_PATIENCE_MS,
    recovery: { pauseMs: PAUSE_MS },
  });
  let isListening = false;
  /** Changes before this moment may have been missed; answers from before it are asked for again. */
  let freshSince = 0;
  /** Counts the changes: an answer that was asked for before one must not be kept after it. */
  let generation = 0;

  const unavailable = (cause: unknown) =>
    new AssayError('store_unavailable', `${failure}: the key store is unavailable`, {
      cause,
      detail: describeError(cause),
    });

  /** Of what is under way, and of what is not there, nothing tells whether it is what changed. */
  const beginAnew = () => {
    generation += 1;
    lookups.clear();
  };

  /** What is known is not thrown away: it is what is believed should Postgres be away. */
  const askAgain = () => {
    beginAnew();
    freshSince = clock.monotonic();
  };

  async function ask(id: string, subject: Subject): Promise<Answer> {
    const askedIn = generation;
    const verifiedAt = clock.monotonic();
    const answer = await load(subject);
    if (askedIn !== generation) return answer;
    if (answer === null) known.delete(id);
    else known.set(id, { answer, verifiedAt });
    return answer;
  }

  /** One look-up of an id at a time, however many calls wait for it. */
  async function lookUp(id: string, subject: Subject): Promise<Answer> {
    const running = lookups.get(id);
    if (running === undefined) return await begin(id, subject);
    const answer = await running;
    if (answer !== null) return answer;
    // What that one did not find may have been made while it ran, before this call.
    return await (lookups.get(id) ?? begin(id, subject));
  }

  function begin(id: string, subject: Subject): Promise<Answer> {
    if (lookups.size >= MAX_LOOKUPS) return Promise.reject(unavailable(new Error('too many look-ups')));
    const lookup = ask(id, subject).finally(() => {
      if (lookups.get(id) === lookup) lookups.delete(id);
    });
    lookups.set(id, lookup);
    return lookup;
  }

  async function findStored(
    id: string,
    subject: Subject,
    before: Known<Answer> | undefined,
  ): Promise<Answer> {
    try {
      const patienceMs = before === undefined ? LONGEST_PATIENCE_MS : PATIENCE_MS;
      return await store.attempt(() => lookUp(id, subject), { patienceMs });
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      if (before !== undefined) return before.answer;
      throw error instanceof AssayError && !(error instanceof StoreLateError) ? error : unavailable(error);
    }
  }

  function find(id: string, subject: Subject): Answer | Promise<Answer> {
    const now = clock.monotonic();
    let before = known.get(id);
    if (before !== undefined) {
      const age = now - before.verifiedAt;
      if (isListening && before.verifiedAt >= freshSince && age < FRESH_MS) return before.answer;
      if (age > STALE_MS) before = undefined;
      else if (store.isAway()) return before.answer;
    }
    return findStored(id, subject, before);
  }

  return {
    find,
    askAgain,
    forget: (isChanged) => {
      beginAnew();
      for (const [id, { answer }] of known.entries()) if (isChanged(id, answer)) known.delete(id);
    },
    onListening: () => {
      askAgain();
      isListening = true;
      store.reset();
    },
    onLost: () => {
      isListening = false;
    },
  };
}
