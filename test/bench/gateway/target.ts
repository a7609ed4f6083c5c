/** What the benchmark sends calls to. */

export const TARGET_NAMES = ['direct', 'ours', 'peer'] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

export type Target = {
  name: TargetName;
  port: number;
  path: string;
  headers: Record<string, string>;
  /** The gateway process; null: there is none between. */
  pid: number | null;
  /**
   * Waits until the work that goes on after the answers is done: `calls` made so far are found in the log. Null: the
   * target keeps none.
   */
  settle(calls: number): Promise<Settled | null>;
  stop(): Promise<void>;
};

export type Settled = {
  /** Found in the end. */
  records: number;
  /** Not found yet when the load ended. */
  backlog: number;
  /** From the end of the load until all were found. */
  seconds: number;
};
