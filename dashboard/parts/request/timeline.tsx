/** When what happened, from the call to the last byte. */
import { milliseconds } from '../formats/numbers.ts';
import { fullTime } from '../formats/times.ts';
import type { RecordHead } from '../record/record-protocol.ts';

type Step = { title: string; fromMs: number; toMs: number };

/** Returns the stretches of a call, in milliseconds from its beginning. */
function stepsOf({ delay_ms: delayMs, time_to_first_token: firstMs }: RecordHead): Step[] {
  if (delayMs === null) return [];
  if (firstMs === null) return [{ title: 'Waiting for the answer', fromMs: 0, toMs: delayMs }];
  return [
    { title: 'Waiting for the first token', fromMs: 0, toMs: firstMs },
    { title: 'Receiving tokens', fromMs: firstMs, toMs: delayMs },
  ];
}

/** Shows a bar a stretch. */
export function Timeline({ head }: { head: RecordHead }) {
  const steps = stepsOf(head);
  const whole = Math.max(1, head.delay_ms ?? 1);
  return (
    <>
      <p>Called {fullTime(head.request_created_at)}</p>
      <ol class="request-timeline">
        {steps.map(({ title, fromMs, toMs }) => (
          <li key={title}>
            <span>{title}</span>
            <span class="request-bar" aria-hidden="true">
              <span
                style={{
                  marginLeft: `${(fromMs / whole) * 100}%`,
                  width: `${Math.max(0.5, ((toMs - fromMs) / whole) * 100)}%`,
                }}
              />
            </span>
            <span class="number">{milliseconds(toMs - fromMs)}</span>
          </li>
        ))}
      </ol>
      {steps.length === 0 && (
        <p class="muted">The gateway was ended during the call: how long it took is unknown.</p>
      )}
      {head.response_created_at !== null && <p>Answered {fullTime(head.response_created_at)}</p>}
    </>
  );
}
