/** The state of a dataset's page in its address. Pure. */
import type { ItemQueryBody } from '#core/contracts/dataset.ts';

const VERSION = /^[1-9]\d{0,4}$/;

/** Reads the number of a version; null: it is none. */
export function readVersion(text: string | undefined): number | null {
  return VERSION.test(text ?? '') ? Number(text) : null;
}

/** Returns the query of the items that an address asks for. */
export function itemQuery({
  version,
  split = '',
  cluster = '',
  search = '',
}: Readonly<Record<string, string>>): ItemQueryBody {
  const chosen = readVersion(version);
  return {
    ...(chosen !== null && { version: chosen }),
    ...(split !== '' && { split }),
    ...(cluster !== '' && { cluster }),
    ...(search !== '' && { search }),
  };
}

/** Returns the versions that an address compares, the older one first; null: it compares none. */
export function readDifference({
  from,
  to,
}: Readonly<Record<string, string>>): { from: number; to: number } | null {
  const newer = readVersion(to);
  const older = from === '0' ? 0 : readVersion(from);
  return newer === null || older === null || older === newer ? null : { from: older, to: newer };
}
