/** What is asked of each target: sizes, streams, and numbers of connections. */

export type Scenario = {
  name: string;
  /** Of the request's body, and of the answer's unless that is a stream. */
  bytes: number;
  /** Microseconds between the 20 events of a stream; 0: back to back. Null: no stream. */
  pace: number | null;
  connections: number;
  /** Runs only when it is asked for. */
  isLong?: boolean;
};

const KIB = 1_024;
/** As tokens come from a fast model. */
const PACE_MICROSECONDS = 5_000;

/** In the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  { name: '1 KB, 1 connection', bytes: KIB, pace: null, connections: 1 },
  { name: '1 KB, 16 connections', bytes: KIB, pace: null, connections: 16 },
  { name: '1 KB, 64 connections', bytes: KIB, pace: null, connections: 64 },
  { name: '1 KB, 256 connections', bytes: KIB, pace: null, connections: 256 },
  { name: '1 KB, 1,500 connections', bytes: KIB, pace: null, connections: 1_500 },
  { name: '50 KB, 16 connections', bytes: 50 * KIB, pace: null, connections: 16 },
  { name: 'stream, 1 connection', bytes: KIB, pace: 0, connections: 1 },
  { name: 'stream, 16 connections', bytes: KIB, pace: 0, connections: 16 },
  { name: 'stream of 5 ms an event, 16 connections', bytes: KIB, pace: PACE_MICROSECONDS, connections: 16 },
  { name: 'stream of 5 ms an event, 64 connections', bytes: KIB, pace: PACE_MICROSECONDS, connections: 64 },
  {
    name: '150 KB, 1,500 connections',
    bytes: 150 * KIB,
    pace: null,
    connections: 1_500,
    isLong: true,
  },
];

/** Returns the scenarios that are named by their number, or by a part of their name; without names, all that are short. */
export function chooseScenarios(names: readonly string[] | undefined): Scenario[] {
  if (names === undefined) return SCENARIOS.filter(({ isLong }) => isLong !== true);
  const chosen = names.flatMap((name) => {
    const found = SCENARIOS.filter((scenario, index) =>
      /^\d+$/.test(name) ? index + 1 === Number(name) : scenario.name.includes(name),
    );
    if (found.length === 0) throw new Error(`No scenario is "${name}": see --help`);
    return found;
  });
  return SCENARIOS.filter((scenario) => chosen.includes(scenario));
}
