/** The organization: its tier, limits and budget. The command line changes them. */
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, dollars } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';

/** The answer of `GET /v1/organization`. */
type OrganizationJson = {
  id: string;
  name: string;
  tier: string;
  created_at: string;
  limits: { logs_per_5s: number | null };
  budget: { evaluations_per_day: number | null; evaluations_today: number };
  keys: { active: number; expired: number; revoked: number };
};

function Facts({ id, name, tier, created_at, limits, budget, keys }: OrganizationJson) {
  return (
    <dl class="facts card">
      <div>
        <dt>Name</dt>
        <dd class="break">
          <Hostile text={name} />
        </dd>
      </div>
      <div>
        <dt>Id</dt>
        <dd class="break">
          <code>{id}</code>
        </dd>
      </div>
      <div>
        <dt>Tier</dt>
        <dd>{tier}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Moment at={created_at} />
        </dd>
      </div>
      <div>
        <dt>Logged requests</dt>
        <dd>{limits.logs_per_5s === null ? 'all' : `${count(limits.logs_per_5s)} in any five seconds`}</dd>
      </div>
      <div>
        <dt>Evaluations today</dt>
        <dd>
          {dollars(budget.evaluations_today)}
          {budget.evaluations_per_day === null
            ? ', without a limit'
            : ` of ${dollars(budget.evaluations_per_day)} a day (UTC)`}
        </dd>
      </div>
      <div>
        <dt>API keys</dt>
        <dd>
          <a href="/keys">{count(keys.active)} active</a>, {count(keys.expired)} expired,{' '}
          {count(keys.revoked)} revoked
        </dd>
      </div>
    </dl>
  );
}

/** Shows the organization. */
export function Organization() {
  const { data, failure, isLoading, reload } = useResource('organization', (signal) =>
    call<OrganizationJson>('GET', '/v1/organization', undefined, signal),
  );
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {data !== null && <Facts {...data} />}
      <p class="muted">
        Name, tier, limits and budget are changed by the operator: <code>npm start -- organizations</code>.
      </p>
    </>
  );
}
