/** The memory that ingest needs. Pure. */

const MIB = 1024 ** 2;
/** Memory of a process before its first entry. */
const IDLE_BYTES = 128 * MIB;
/** Parsing, building a row and sending it hold a body in several forms. Bodies of 32 MiB ended containers of 768 MiB and not of 1 GiB, of 8 MiB those of 320 and not of 384. */
const BYTES_PER_BYTE = 24;

/**
 * Returns a warning for a process that may have too little memory for the largest body; null: it has enough. Such a process is
 * killed by its container at the same entry again and again, and nothing is stored meanwhile.
 */
export function memoryWarning(availableBytes: number, maxBodyBytes: number): string | null {
  const needed = IDLE_BYTES + BYTES_PER_BYTE * maxBodyBytes;
  if (availableBytes >= needed) return null;
  const inMib = (bytes: number) => `${Math.floor(bytes / MIB)} MiB`;
  return `This process may have ${inMib(availableBytes)} of memory, and needs up to ${inMib(needed)} to store a body of MAX_BODY_BYTES (${inMib(maxBodyBytes)}): give it more, or gateways and API a lower MAX_BODY_BYTES (docs/deployment.md)`;
}
