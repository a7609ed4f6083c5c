import { type Lane, publicMessage } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { readFacts } from '#platform/processes/mod.ts';

/** Returns the reason why evaluations of a lane cannot begin, as a sentence for callers; null: they only wait their turn. */
export type WaitReason = (lane: Lane) => string | null;

/** Reads the abilities of the running evaluators processes, and returns the function that explains by them why evaluations wait. */
export async function readWaitReason(tx: TransactionSql): Promise<WaitReason> {
  const processes = await readFacts(tx, 'evaluators');
  if (processes.length === 0) return () => 'Evaluations wait, as no evaluators process runs';
  if (processes.some(({ sandbox }) => sandbox !== 'none')) return () => null;
  const why = processes.map((one) => one.why ?? 'the sandbox is not available').join('; ');
  const sentence = publicMessage(
    `Evaluations wait for an evaluators process with a sandbox for Python, which none that runs has: ${why}`,
  );
  return (lane) => (lane === 'python' ? sentence : null);
}
