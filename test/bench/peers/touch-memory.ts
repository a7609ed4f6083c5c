/** Memory that a measurement finds as it would on a machine of its own. */
import { execFileSync } from 'node:child_process';

const GIB = 2 ** 30;
/** More than a measurement writes: the log of 50 KB both ways grows by half a gigabyte a second. */
const MOST_BYTES = 2 * GIB;
const SHARE_OF_AVAILABLE = 1 / 8;

/**
 * Writes to free memory once. A virtual machine may give its free pages back to its host ("free page reporting"), and the first
 * write to one may then be a fault of the host's. The copy to the log took 15 % of a gateway's time beside three idle ones, and
 * 1 % by itself; that these faults are the reason is inferred. Pages are given back again after seconds.
 */
export function touchMemory(): void {
  const bytes = Math.floor(Math.min(MOST_BYTES, process.availableMemory() * SHARE_OF_AVAILABLE));
  // Another process, so that its end frees them.
  execFileSync(process.execPath, ['-e', `Buffer.alloc(${bytes}, 1)`]);
}
