/** The state of the installation. */
import type { SystemJson } from '#core/contracts/system.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, milliseconds, NOTHING, plural } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { Processes } from './processes.tsx';

const EVERY_MS = 5_000;

function Health({ health, reasons }: SystemJson) {
  const isOk = health === 'ok';
  return (
    <section class="card cards-whole">
      <h2>Health</h2>
      <p class={isOk ? 'figure good' : 'figure warn'}>{isOk ? 'All is well' : 'Degraded'}</p>
      {reasons.length > 0 && (
        <ul>
          {reasons.map(({ reason, message }) => (
            <li key={`${reason} ${message}`}>
              <Hostile text={message} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Ingest({ ingest }: SystemJson) {
  return (
    <section class="card">
      <h2>Storing</h2>
      <p class="figure">{milliseconds(ingest.lag_ms)}</p>
      <p class="muted">
        is the age of the oldest entry that waits to be stored.{' '}
        {ingest.newest_stored_ms === null
          ? 'You have no stored request yet.'
          : `Your newest request was stored ${milliseconds(ingest.newest_stored_ms)} ago.`}
      </p>
    </section>
  );
}

function Letters({ dead_letters: { own, others } }: SystemJson) {
  return (
    <section class="card">
      <h2>Dead letters</h2>
      <p class={own + (others ?? 0) === 0 ? 'figure' : 'figure warn'}>{count(own + (others ?? 0))}</p>
      <p>
        <a href="/dead-letters">See them</a>
        {others !== null && others > 0 && `; ${count(others)} name no known organization`}
      </p>
    </section>
  );
}

function Breakers({ breakers }: SystemJson) {
  return (
    <section class="card">
      <h2>Providers</h2>
      {breakers.length === 0 && <p class="good">All circuits are closed.</p>}
      <ul>
        {breakers.map(({ provider, state, gateways }) => (
          <li key={provider}>
            <Hostile text={provider} />: <span class="bad">{state}</span> in {plural(gateways, 'gateway')}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sinks({ sinks }: SystemJson) {
  return (
    <section class="card">
      <h2>Followers of changes</h2>
      {sinks.length === 0 && <p class="muted">None runs.</p>}
      <ul>
        {sinks.map(({ name, state, lag_ms, changes }) => (
          <li key={name}>
            {name}: <span class={state === 'behind' ? 'bad' : undefined}>{state}</span>,{' '}
            {milliseconds(lag_ms)} and {count(changes)} changes behind
          </li>
        ))}
      </ul>
    </section>
  );
}

function Paused({ paused_evaluators: paused }: SystemJson) {
  return (
    <section class="card">
      <h2>Paused evaluators</h2>
      {paused.length === 0 && <p class="muted">{NOTHING}</p>}
      <ul>
        {paused.map(({ id, name, reason }) => (
          <li key={id}>
            <a href={`/evaluators/${encodeURIComponent(id)}`}>
              <Hostile text={name} />
            </a>
            : <Hostile text={reason} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The page /system: read again every five seconds while it is visible. */
export function System() {
  const { data, failure, isLoading, reload } = useResource(
    'system',
    (signal) => call<SystemJson>('GET', '/v1/system', undefined, signal),
    { everyMs: EVERY_MS },
  );
  return (
    <>
      <header class="page-head">
        <h1>System</h1>
        {data !== null && (
          <span class="muted">
            Version {data.version}, as of <Moment at={data.as_of} />
          </span>
        )}
      </header>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && (
        <>
          <div class="cards">
            <Health {...data} />
            <Ingest {...data} />
            <Letters {...data} />
            <Breakers {...data} />
            <Sinks {...data} />
            <Paused {...data} />
          </div>
          <Processes processes={data.processes} version={data.version} />
        </>
      )}
    </>
  );
}
