/** Programs that other machines download from the API. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export { runGate } from './assay-gate.mjs';

const GATE = fileURLToPath(new URL('./assay-gate.mjs', import.meta.url));

/** Returns the source of the gate for CI machines: one file for Node, without dependencies. */
export async function readGateProgram(): Promise<string> {
  return await readFile(GATE, 'utf8');
}
