/** How many jobs of the sandbox run at once, and whose is next. */
import { FairSlots } from '#platform/process/fair-slots.ts';

/**
 * Whose turn a job uses. Trials (compiling and trying out, for which somebody waits) have slots of their own: evaluations
 * never delay them.
 */
export type Turn = { organizationId: string; share: 'evaluations' | 'trials' };

/** For jobs of no organization. */
export const NOBODYS_TURN: Turn = { organizationId: '', share: 'evaluations' };

/** Slots for trials, as a share of those for evaluations. */
const SHARE_OF_TRIALS = 0.5;
/** Beyond the slots, for an organization that has nothing running while others fill them all. */
const SPARE = 1;
/** Each waiting job may hold 1 MB of texts. */
const MAX_WAITING = 1_000;
const MAX_WAITING_OF_ONE = 500;

export class Turns {
  readonly #slots: Record<Turn['share'], FairSlots>;

  constructor(concurrency: number) {
    const slots = (count: number) =>
      new FairSlots({ count, spare: SPARE, maxWaiting: MAX_WAITING, maxWaitingOfOne: MAX_WAITING_OF_ONE });
    this.#slots = {
      evaluations: slots(concurrency),
      trials: slots(Math.max(1, Math.floor(concurrency * SHARE_OF_TRIALS))),
    };
  }

  get running(): number {
    return this.#slots.evaluations.running + this.#slots.trials.running;
  }

  get waiting(): number {
    return this.#slots.evaluations.waiting + this.#slots.trials.waiting;
  }

  /** Runs `work` in turn; null when too many wait already. */
  run<Result>({ organizationId, share }: Turn, work: () => Promise<Result>): Promise<Result | null> {
    return this.#slots[share].run(organizationId, work);
  }
}
