/** How long, how large and how expensive the sessions are. */
import type { SessionMetrics } from '#core/contracts/session.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count, decimal, dollars, milliseconds } from '../../parts/formats/numbers.ts';
import { besideBar } from '../../parts/query-bar/beside-bar.ts';
import { bodyOf, type SessionList } from './use-sessions.ts';

type Name = keyof SessionMetrics['summary'];
type Bar = SessionMetrics[Name][number];
type Format = (value: number | null) => string;

const SHOWN: readonly { name: Name; title: string; format: Format }[] = [
  { name: 'session_count', title: 'Requests in a session', format: decimal },
  {
    name: 'session_duration',
    title: 'Duration',
    format: (seconds) => milliseconds(seconds === null ? null : seconds * 1_000),
  },
  { name: 'session_cost', title: 'Cost', format: dollars },
];
const HEIGHT = 40;
/** Of a bar, where there is room. */
const WIDTH_REM = 4;

function Bars({ bars }: { bars: readonly Bar[] }) {
  const most = bars.reduce((max, { value }) => Math.max(max, value), 1);
  return (
    <svg
      class="distribution-bars"
      viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bars.map(({ range_start: from, value }, index) => {
        // What is there can be seen, however little it is.
        const height = value === 0 ? 0 : Math.max(1.5, (value / most) * HEIGHT);
        return <rect key={from} x={index + 0.08} y={HEIGHT - height} width={0.84} height={height} />;
      })}
    </svg>
  );
}

function BarTable({ title, bars, format }: { title: string; bars: readonly Bar[]; format: Format }) {
  return (
    <div class="unseen">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">From, below</th>
            <th scope="col">Sessions</th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ range_start: from, range_end: to, value }) => (
            <tr key={from}>
              <th scope="row">
                {format(from)}, {format(to)}
              </th>
              <td>{count(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shows the distributions of what the query, the range and the name find. */
export function Distributions({ list }: { list: SessionList }) {
  const { q, range, name, search } = list;
  const { data, failure, isLoading, reload } = useResource(
    `session metrics ${JSON.stringify([q, range.name, name])}`,
    (signal) =>
      call<SessionMetrics>(
        'POST',
        '/v1/session/metrics/query',
        { ...bodyOf(list), ...(name === '' ? {} : { nameContains: name }) },
        signal,
      ),
  );
  const shown = besideBar(failure, q);
  if (shown !== null) return <FailureNotice failure={shown} retry={reload} />;
  return (
    <>
      <div class={isLoading ? 'distributions busy' : 'distributions'}>
        {SHOWN.map(({ name: own, title, format }) => {
          const bars = data?.[own] ?? [];
          const { p50 = null, p90 = null, p99 = null } = data?.summary[own] ?? {};
          return (
            <section key={own} class="distribution card" aria-label={title}>
              <h2>{title}</h2>
              <div
                class="distribution-drawing"
                style={{ maxInlineSize: `${Math.max(2, bars.length) * WIDTH_REM}rem` }}
              >
                <Bars bars={bars} />
                <p class="distribution-ends muted" aria-hidden="true">
                  <span>{bars.length > 0 && format(bars[0]!.range_start)}</span>
                  <span>{bars.length > 0 && format(bars.at(-1)!.range_end)}</span>
                </p>
              </div>
              <p class="muted">
                Half up to {format(p50)}, 90 % up to {format(p90)}, 99 % up to {format(p99)}
              </p>
              <BarTable title={title} bars={bars} format={format} />
            </section>
          );
        })}
      </div>
      {search !== '' && <p class="muted">The distributions are of all sessions, without the search.</p>}
    </>
  );
}
