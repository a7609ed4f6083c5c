/** The bodies of calls that have ended are garbage, and many of them are worth a collection of their own. */
import type { DropBuffers } from '#platform/process/memory.ts';
import type { Recorder } from './record.ts';

/** Wraps the recorder, through which every call passes once, at its end: from then on its bodies are garbage. */
export function droppingBodies({ begin, record }: Recorder, drop: DropBuffers): Recorder {
  return {
    begin,
    record: (logged, result) => {
      const { startedAt, body } = logged.call;
      drop(startedAt, body.bytes.length + result.outcome.responseBody.length);
      return record(logged, result);
    },
  };
}
