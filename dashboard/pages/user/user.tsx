/** One user: what they asked, when, of which models, and what it cost. */
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import type { Span } from '../../parts/chart/buckets.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { CopyButton } from '../../parts/copy/copy.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Fact, Facts } from '../../parts/formats/fact.tsx';
import { count, dollars, milliseconds } from '../../parts/formats/numbers.ts';
import { timeZone } from '../../parts/formats/times.ts';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { rangeName } from '../../state/range.ts';
import { LatestRequests, Limits, Models, Sessions } from './lists.tsx';
import { bucketsOf, costContent, requestsContent, totalOf, userQuery } from './measures.ts';
import { type UserScope, useUserScope } from './use-scope.ts';

function Totals({ answer, scope }: { answer: MetricsAnswer; scope: UserScope }) {
  return (
    <Facts>
      <Fact name="Requests">
        <a href={href('/requests', { q: scope.q, range: scope.name })}>
          {count(totalOf(answer, 'requests'))}
        </a>
      </Fact>
      <Fact name="Errors">{count(totalOf(answer, 'errors'))}</Fact>
      <Fact name="Cost">{dollars(totalOf(answer, 'cost'))}</Fact>
      <Fact name="Tokens">
        {count(totalOf(answer, 'prompt_tokens'))} + {count(totalOf(answer, 'completion_tokens'))}
      </Fact>
      <Fact name="Latency, p50">{milliseconds(totalOf(answer, 'latency'))}</Fact>
    </Facts>
  );
}

function Figures({ scope }: { scope: UserScope }) {
  const { q, from, to, name, zoom } = scope;
  const { data, failure, isLoading, reload } = useResource(`user ${JSON.stringify([q, name])}`, (signal) =>
    call<MetricsAnswer>('POST', '/v1/metrics/query', userQuery(q, { from, to }, timeZone()), signal),
  );
  const hrefOf = (bucket: Span | null, key: string | null) =>
    href('/requests', {
      q: key === 'errors' ? `${q} status:>=400` : q,
      range: bucket === null ? name : rangeName(bucket.from, bucket.to),
    });
  if (data === null)
    return failure === null ? (
      <p class="muted">Loading…</p>
    ) : (
      <FailureNotice failure={failure} retry={reload} />
    );
  const common = { buckets: bucketsOf(data), onZoom: zoom, hrefOf, isLoading };
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <Totals answer={data} scope={scope} />
      <div class="user-charts">
        <Chart {...requestsContent(data)} kind="stacked" {...common} />
        <Chart {...costContent(data)} kind="bars" {...common} />
      </div>
    </>
  );
}

/** The page /users/:id. */
export function UserPage({ id }: { id: string }) {
  const scope = useUserScope(id);
  return (
    <div class="user">
      <p>
        <a href="/users">All users</a>
      </p>
      <div class="page-head">
        <h1 class="user-name">
          <Hostile text={id} />
        </h1>
        <CopyButton text={id} what="user id" />
        <RangePicker />
        {may('write') && (
          <a class="button danger" href={href('/settings', { tab: 'erasure', q: scope.q })}>
            Erase the requests…
          </a>
        )}
      </div>
      <Figures key={`figures ${id}`} scope={scope} />
      <div key={id} class="user-lists">
        <Models scope={scope} />
        <Sessions scope={scope} />
        <Limits id={id} />
      </div>
      <LatestRequests key={`requests ${id}`} scope={scope} />
    </div>
  );
}
