/** The calls whose cost is counted. */
import type { Scenario } from '../gateway/measure.ts';

const KIB = 1_024;

export type CostScenario = Scenario & {
  /** Calls of one count. */
  calls: number;
  /**
   * Milliseconds between two events of a stream; 0: all in one piece. Never each in its own turn of the provider's event
   * loop: how many of those arrive together depends on the machine's load, and with it what a call costs.
   */
  everyMs?: number;
  /**
   * Difference in system calls that is no finding: more than twelve runs differed by, seven of them on a busy machine, where
   * bodies and answers go through sockets in more pieces.
   */
  systemCallsAllowed: number;
};

export const SCENARIOS: readonly CostScenario[] = [
  {
    name: '1 KB, 1 connection',
    bytes: KIB,
    stream: false,
    connections: 1,
    calls: 400,
    systemCallsAllowed: 0.5,
  },
  {
    name: '1 KB, 16 connections',
    bytes: KIB,
    stream: false,
    connections: 16,
    calls: 400,
    systemCallsAllowed: 0.75,
  },
  {
    name: '50 KB, 16 connections',
    bytes: 50 * KIB,
    stream: false,
    connections: 16,
    calls: 240,
    systemCallsAllowed: 0.75,
  },
  {
    name: 'stream, 1 connection',
    bytes: KIB,
    stream: true,
    connections: 1,
    calls: 400,
    everyMs: 0,
    systemCallsAllowed: 0.5,
  },
  // Events 25 ms apart arrive one by one, save a sixth of them when the machine is very busy. A call takes 0.6 s, so there
  // are fewer.
  {
    name: 'paced stream, 16 connections',
    bytes: KIB,
    stream: true,
    connections: 16,
    calls: 48,
    everyMs: 25,
    systemCallsAllowed: 14,
  },
];
