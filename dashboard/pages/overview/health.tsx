/** The state of the installation in one strip. */
import type { HealthReason, SystemJson } from '#core/contracts/system.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { milliseconds } from '../../parts/formats/numbers.ts';

const EVERY_MS = 10_000;
/** Pages that say more about a reason than the system's. */
const PAGES: Readonly<Partial<Record<HealthReason, { path: string; label: string }>>> = {
  dead_letters: { path: '/dead-letters', label: 'Dead letters' },
  evaluator_paused: { path: '/evaluators', label: 'Evaluators' },
};
const SYSTEM = { path: '/system', label: 'System' };

function Well({ ingest: { lag_ms: lag, newest_stored_ms: newest } }: SystemJson) {
  return (
    <span class="muted">
      {newest === null ? 'No request stored yet' : `Newest request ${milliseconds(newest)} old`}
      {lag !== null && lag > 0 && `, ${milliseconds(lag)} behind`}
    </span>
  );
}

/** Shows whether all is well, or each reason as a sentence; asks again every ten seconds. */
export function Health() {
  const { data, failure } = useResource(
    'system',
    (signal) => call<SystemJson>('GET', '/v1/system', undefined, signal),
    { everyMs: EVERY_MS },
  );
  if (failure !== null)
    return <p class="health bad">The state of the system is not known: {failure.message}</p>;
  if (data === null) return <p class="health muted">…</p>;
  if (data.health === 'ok')
    return (
      <p class="health">
        <a class="chip chip-good" href={SYSTEM.path}>
          System healthy
        </a>
        <Well {...data} />
      </p>
    );
  return (
    <div class="health">
      <a class="chip chip-warn" href={SYSTEM.path}>
        System degraded
      </a>
      <ul>
        {data.reasons.map(({ reason, message }) => {
          const { path, label } = PAGES[reason] ?? SYSTEM;
          return (
            <li key={message}>
              {message} <a href={path}>{label}</a>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
