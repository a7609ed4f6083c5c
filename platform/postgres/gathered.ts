/**
 * Gathers look-ups into statements: one that comes while as many statements run as may waits for the next, and shares it
 * with all others that wait. A flood of look-ups then costs some statements, and none waits for thousands of others.
 */
export type GatheredOptions<Input, Value> = {
  /** Looks all of them up in one statement, and returns what it found in the same order. */
  load(inputs: readonly Input[]): Promise<readonly Value[]>;
};

/** Statements at a time: a second one where the connection of the first is slow or dead. */
const MAX_RUNNING = 2;
/** Look-ups of a statement, so that none takes long. */
const MAX_TOGETHER = 1_000;

type Waiting<Input, Value> = {
  input: Input;
  resolve(value: Value): void;
  reject(error: unknown): void;
};

/** Returns a function that looks one value up. */
export function createGathered<Input, Value>({
  load,
}: GatheredOptions<Input, Value>): (input: Input) => Promise<Value> {
  let waiting: Waiting<Input, Value>[] = [];
  let running = 0;

  async function run(): Promise<void> {
    running += 1;
    while (waiting.length > 0) {
      const together = waiting.slice(0, MAX_TOGETHER);
      waiting = waiting.slice(MAX_TOGETHER);
      try {
        const values = await load(together.map(({ input }) => input));
        for (const [at, { resolve }] of together.entries()) resolve(values[at]!);
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    running -= 1;
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (running < MAX_RUNNING) void run();
    });
}
