/** Works that are repeated in the background: often while the limiter is used, seldom or never while it rests. */

/** Times between the rounds of a work while the limiter is used, and while it rests; null: none. */
export type Pace = { usedMs: number; restingMs: number | null };

export type PacedWorks = {
  /** Notes a use, which ends a rest. */
  noteUse(): void;
  /** Notes the end of a round; after many without a use, and if `mayRest`, a rest begins. */
  noteRound(mayRest: boolean): void;
  /** Repeats a work, one round at a time. Returns what runs a round now. The work must not reject. */
  repeat(pace: Pace, work: () => Promise<void>): () => Promise<void>;
  stop(): void;
};

type Options = {
  /** Rounds without a use after which a rest begins. */
  unusedRounds: number;
  /** Called when a use ends a rest. */
  onAwake(): void;
};

/** Creates works that rest until the first use. */
export function createPacedWorks(options: Options): PacedWorks {
  const works: { run(): Promise<void>; pace: Pace }[] = [];
  let timers: NodeJS.Timeout[] = [];
  let isUsed = false;
  let isResting = true;
  let unusedRounds = 0;

  /** Runs each work in the intervals of use or of rest from now on. */
  function setTimers(): void {
    for (const timer of timers) clearInterval(timer);
    timers = works.flatMap(({ run, pace }) => {
      const everyMs = isResting ? pace.restingMs : pace.usedMs;
      return everyMs === null ? [] : [setInterval(run, everyMs).unref()];
    });
  }

  return {
    noteUse() {
      isUsed = true;
      if (!isResting) return;
      isResting = false;
      unusedRounds = 0;
      setTimers();
      options.onAwake();
    },
    noteRound(mayRest) {
      unusedRounds = isUsed ? 0 : unusedRounds + 1;
      isUsed = false;
      if (unusedRounds < options.unusedRounds || !mayRest) return;
      isResting = true;
      setTimers();
    },
    repeat(pace, work) {
      let isRunning = false;
      const run = async () => {
        if (isRunning) return;
        isRunning = true;
        await work();
        isRunning = false;
      };
      works.push({ run, pace });
      setTimers();
      return run;
    },
    stop() {
      works.length = 0;
      setTimers();
    },
  };
}
