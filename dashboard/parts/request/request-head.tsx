/** The head of a request: what it was, what it cost, how it was graded. */

import type { RowPage } from '#core/contracts/rows.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { href } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { rate, ratingOf } from '../../state/ratings.ts';
import { CopyButton } from '../copy/copy.tsx';
import { Fact, Facts } from '../formats/fact.tsx';
import { count, decimal, dollars, milliseconds, NOTHING } from '../formats/numbers.ts';
import { fullTime } from '../formats/times.ts';
import { pageOf } from '../links/page-of.ts';
import type { RecordHead } from '../record/record-protocol.ts';
import { Hostile } from '../text/hostile.tsx';
import { attempt } from '../toast/toast.tsx';
import { FilterValue } from '../value/value.tsx';
import { AddScore } from './add-score.tsx';
import { CopyAs } from './copy-as.tsx';
import { RatingButtons } from './rating-buttons.tsx';
import { StatusChip } from './status-chip.tsx';

const PAGE = '/requests';

function Filtered({ field, value }: { field: string; value: string | null }) {
  if (value === null) return <>–</>;
  return (
    <FilterValue field={field} value={value} page={PAGE}>
      <Hostile text={value} />
    </FilterValue>
  );
}

/** The session of a request, which its record does not have: a link to it when it has come. */
function Session({ id }: { id: string }) {
  const { data } = useResource(`session of ${id}`, (signal) =>
    call<RowPage>(
      'POST',
      '/v1/request/rows',
      { filter: { request: { id: { equals: id } } }, columns: ['session_id', 'session_name'], limit: 1 },
      signal,
    ),
  );
  const { session_id: session, session_name: name } = data?.rows[0] ?? {};
  if (session === undefined || session === null) return null;
  return (
    <Fact name="Session">
      <a href={pageOf('session', session)}>
        <Hostile text={name ?? session} />
      </a>
    </Fact>
  );
}

function RequestFacts({ head }: { head: RecordHead }) {
  const { prompt_tokens: prompt, completion_tokens: completion, prompt_id, prompt_version } = head;
  const { request_user_id: user } = head;
  return (
    <Facts>
      <Fact name="Model">
        <Filtered field="model_used" value={head.model} />
      </Fact>
      <Fact name="Provider">
        <Filtered field="provider" value={head.provider} />
      </Fact>
      <Fact name="Latency">{milliseconds(head.delay_ms)}</Fact>
      {head.time_to_first_token !== null && (
        <Fact name="First token">{milliseconds(head.time_to_first_token)}</Fact>
      )}
      <Fact name="Tokens">
        {count(prompt)} + {count(completion)}
      </Fact>
      <Fact name="Cost">{dollars(head.cost)}</Fact>
      <Fact name="User">
        {user === null ? (
          NOTHING
        ) : (
          <a href={pageOf('user', user)}>
            <Hostile text={user} />
          </a>
        )}
      </Fact>
      <Session key={head.request_id} id={head.request_id} />
      {prompt_id !== null && (
        <Fact name="Prompt">
          <a href={`/prompts/${encodeURIComponent(prompt_id)}`}>
            <Hostile text={prompt_id} />
          </a>{' '}
          <Hostile text={prompt_version ?? ''} />
        </Fact>
      )}
    </Facts>
  );
}

/** The same question on another day: links to requests that have something in common with this one. */
function Alike({ head }: { head: RecordHead }) {
  const { model, request_user_id: user, prompt_id: prompt } = head;
  const links: [string, string | null, string][] = [
    ['same user', user, 'user'],
    ['same prompt', prompt, 'prompt'],
    ['same model', model, 'model_used'],
  ];
  return (
    <span class="request-alike">
      More with the{' '}
      {links
        .filter(([, value]) => value !== null)
        .map(([title, value, field], index) => (
          <>
            {index > 0 && ', '}
            <FilterValue key={title} field={field} value={value} page={PAGE}>
              {title}
            </FilterValue>
          </>
        ))}
    </span>
  );
}

function Grades({ head, onChanged }: { head: RecordHead; onChanged: () => void }) {
  const { request_id: id, scores } = head;
  const rating = ratingOf(head);
  const give = (next: boolean) => attempt(() => rate(id, next), next ? 'Rated good' : 'Rated bad');
  return (
    <div class="request-grades">
      {may('write') && (
        <>
          <RatingButtons rating={rating} onRate={give} />
          <AddScore id={id} onAdded={onChanged} />
        </>
      )}
      {Object.entries(scores ?? {}).map(([key, score]) => (
        <span key={key} class="chip text-chip">
          <FilterValue field={`scores.${key}`} value={score} page={PAGE}>
            <Hostile text={key} /> {decimal(score)}
          </FilterValue>
        </span>
      ))}
    </div>
  );
}

/** Shows the head. */
export function RequestHead({ head, onChanged }: { head: RecordHead; onChanged: () => void }) {
  const { request_id: id, request_created_at: createdAt, response_status: status } = head;
  return (
    <header class="request-head">
      <div class="request-title">
        <StatusChip status={status} />
        <h2>
          <Hostile text={head.model} />
        </h2>
        <time dateTime={createdAt} class="muted">
          {fullTime(createdAt)}
        </time>
      </div>
      <p class="muted request-id">
        <code>{id}</code> <CopyButton text={id} what="request id" />
      </p>
      <RequestFacts head={head} />
      <Grades head={head} onChanged={onChanged} />
      <div class="request-actions">
        <a class="button" href={href('/playground', { from: id })}>
          Replay
        </a>
        <CopyAs id={id} path={head.request_path} />
        <Alike head={head} />
      </div>
    </header>
  );
}
