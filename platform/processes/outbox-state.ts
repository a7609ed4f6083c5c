import type { OutboxState } from '#core/contracts/process-state.ts';
import type { LogPipeline } from '../log-pipeline/forward/mod.ts';

/** Returns the function that reads the state of an outbox, for each report of its process. */
export function createOutboxReader(
  { outbox, measureBacklog }: Pick<LogPipeline, 'outbox' | 'measureBacklog'>,
  maxBytes: number,
): () => Promise<OutboxState> {
  let refusedBefore = 0;
  return async () => {
    const { records, bytes, oldestMs } = await measureBacklog();
    // The last entry counts, however long ago: where calls are rare, most reports follow none, and the disk is as full.
    const isRefusing = outbox.isRefusing || outbox.refused > refusedBefore;
    refusedBefore = outbox.refused;
    return {
      records,
      bytes,
      oldest_ms: oldestMs,
      fill: outbox.bytesOnDisk / maxBytes,
      is_refusing: isRefusing,
    };
  };
}
