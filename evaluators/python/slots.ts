/** The slots of the sandbox: the jobs that run at once, and the order of those that wait. */
import { FairSlots } from '#platform/process/fair-slots.ts';

/**
 * The organization that a job counts for, and its share of the slots. Trials (compiling and trying out, for which a caller
 * waits) have their own slots: evaluations never delay them.
 */
export type SlotHolder = { organizationId: string; share: 'evaluations' | 'trials' };

/** The holder for jobs of no organization. */
export const NO_ORGANIZATION: SlotHolder = { organizationId: '', share: 'evaluations' };

/** Number of slots for trials, as a share of those for evaluations. */
const SHARE_OF_TRIALS = 0.5;
/** Extra slots for an organization that has nothing running while others fill all slots. */
const SPARE = 1;
/** Each waiting job may hold 1 MB of texts. */
const MAX_WAITING = 1_000;
const MAX_WAITING_OF_ONE = 500;

/** Hands the sandbox's slots to jobs, fairly between organizations. */
export class SandboxSlots {
  readonly #slots: Record<SlotHolder['share'], FairSlots>;

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

  /** Runs `work` when it gets a slot; returns null when too many jobs wait already. */
  run<Result>({ organizationId, share }: SlotHolder, work: () => Promise<Result>): Promise<Result | null> {
    return this.#slots[share].run(organizationId, work);
  }
}
