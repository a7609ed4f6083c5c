/** The answer to a column's call: while it streams in, and as a whole. */
import { ConversationSide } from '../../parts/conversation/conversation.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count, dollars, milliseconds } from '../../parts/formats/numbers.ts';
import { useBodies } from '../../parts/record/use-bodies.ts';
import { StatusChip } from '../../parts/request/status-chip.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import type { Run } from './run.ts';

function Facts({ run: { firstMs, totalMs, row, requestId, status, isStopped, phase } }: { run: Run }) {
  const facts: [string, string][] = [
    ...(firstMs === null ? [] : [['First token', milliseconds(firstMs)] as [string, string]]),
    ...(totalMs === null ? [] : [['Latency', milliseconds(totalMs)] as [string, string]]),
    ...(row === null
      ? []
      : ([
          ['Tokens', `${count(row.prompt_tokens ?? null)} + ${count(row.completion_tokens ?? null)}`],
          ['Cost', dollars(row.cost ?? null)],
        ] as [string, string][])),
  ];
  return (
    <div class="playground-facts">
      {status !== 0 && <StatusChip status={status} />}
      {isStopped && <span class="chip chip-warn">Stopped</span>}
      {phase === 'running' && <span class="muted">Running…</span>}
      {facts.map(([name, value]) => (
        <span key={name}>
          <span class="muted">{name}</span> {value}
        </span>
      ))}
      {requestId !== null && row !== null && (
        <a href={`/requests/${encodeURIComponent(requestId)}`}>
          Request <code>…{requestId.slice(-6)}</code>
        </a>
      )}
      {requestId !== null && row === null && <code class="muted">…{requestId.slice(-6)}</code>}
    </div>
  );
}

function Whole({ requestId }: { requestId: string }) {
  const source = useBodies(requestId);
  return <ConversationSide source={source} side="response" />;
}

/** Shows a run. */
export function Answer({ run }: { run: Run }) {
  const { phase, requestId, pieces, failure } = run;
  return (
    <section class="playground-answer" aria-label="Answer" aria-busy={phase === 'running'}>
      <Facts run={run} />
      <FailureNotice failure={failure} />
      {phase === 'running' &&
        pieces.map((piece, index) => (
          <span key={index} class="playground-live">
            <Hostile text={piece} />
          </span>
        ))}
      {phase === 'kept' && requestId !== null && <Whole requestId={requestId} />}
    </section>
  );
}
