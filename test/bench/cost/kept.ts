/** The figures that the cost of a call is compared with, checked in beside the test. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Costs } from './count.ts';

const FILE = new URL('../../system/cost/kept.json', import.meta.url);

export type Kept = {
  /** The version of Node that the figures hold for: another one allocates and compiles differently. */
  node: string;
  costs: Costs;
};

export function readKept(): Kept {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Kept;
}

/** Keeps figures of this version of Node. */
export function writeKept(costs: Costs): void {
  const kept: Kept = { node: process.versions.node, costs };
  writeFileSync(FILE, `${JSON.stringify(kept, null, 2)}\n`);
}
