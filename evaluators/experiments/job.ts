import type { CalledTarget, ItemContent } from '#core/experiments/mod.ts';

/** The name of a run of an experiment. */
export type RunKey = { experimentId: string; itemId: string; repetition: number };

/** A run that this process has claimed, with everything needed to make its call. */
export type ExperimentJob = RunKey & {
  organizationId: string;
  /** Number of this claim. A run that was claimed again since cannot be settled by an earlier claim. */
  claim: number;
  /** Number of this attempt, from 1. */
  attempt: number;
  /** The id of the request that this claim makes. */
  callId: string;
  target: CalledTarget;
  usesCache: boolean;
  /** Null: its content was erased. */
  item: ItemContent | null;
};
