/** The head of a session: what it was, what it cost, how people judge it. */
import { Fragment } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { SessionRow } from '#core/contracts/session.ts';
import { call } from '../../client/call.ts';
import { CopyButton } from '../../parts/copy/copy.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Fact, Facts } from '../../parts/formats/fact.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, decimal, dollars, milliseconds, plural } from '../../parts/formats/numbers.ts';
import { Rating } from '../../parts/formats/rating.tsx';
import { pageOf, requestsOf } from '../../parts/links/page-of.ts';
import { RatingButtons } from '../../parts/request/rating-buttons.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { may } from '../../state/me.ts';
import { axisOf, spanOf } from './axis.ts';
import { type Leaf, usersOf } from './tree.ts';
import { apiPath } from './use-session.ts';

type Props = { session: SessionRow; onChanged: () => void };

function TagDialog({ session, onChanged, onClose }: Props & { onClose: () => void }) {
  const [tag, setTag] = useState(session.tag ?? '');
  const save = async () => {
    await call('POST', `${apiPath(session.session_id)}/tag`, { tag: tag.trim() === '' ? null : tag.trim() });
    onChanged();
    onClose();
  };
  return (
    <Dialog title="Tag of the session" onClose={onClose}>
      <Form verb="Save" onSubmit={save}>
        <Field
          label="Tag"
          hint="Up to 200 characters. An empty tag is none."
          control={(attributes) => (
            <input
              {...attributes}
              type="text"
              maxLength={200}
              value={tag}
              onInput={(event) => setTag(event.currentTarget.value)}
            />
          )}
        />
      </Form>
    </Dialog>
  );
}

function Grades({ session, onChanged }: Props) {
  const [isTagging, setTagging] = useState(false);
  const { session_id: id, feedback_rating: rating, tag } = session;
  const give = async (next: boolean) => {
    // The same once more takes it back.
    const given = rating === next ? null : next;
    const done = given === null ? 'Rating taken back' : given ? 'Rated good' : 'Rated bad';
    if (await attempt(() => call('POST', `${apiPath(id)}/feedback`, { rating: given }), done)) onChanged();
  };
  return (
    <div class="session-grades">
      {may('write') ? (
        <>
          <RatingButtons rating={rating} onRate={give} />
          <button type="button" onClick={() => setTagging(true)}>
            {tag === null ? 'Add a tag…' : 'Change the tag…'}
          </button>
        </>
      ) : (
        <Rating of={rating} />
      )}
      {tag !== null && (
        <span class="chip text-chip session-tag">
          <Hostile text={tag} />
        </span>
      )}
      <a href={requestsOf('session', id, 'all')}>All its requests</a>
      {isTagging && <TagDialog session={session} onChanged={onChanged} onClose={() => setTagging(false)} />}
    </div>
  );
}

/** Users that are named; the others are counted. */
const MOST_USERS = 3;

function Users({ users }: { users: readonly string[] }) {
  const more = users.length - MOST_USERS;
  return (
    <>
      {users.slice(0, MOST_USERS).map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <a href={pageOf('user', id)}>
            <Hostile text={id === '' ? '(empty)' : id} />
          </a>
        </Fragment>
      ))}
      {more > 0 && ` and ${plural(more, 'other')}`}
    </>
  );
}

/**
 * Shows the head.
 * @param leaves the requests that are loaded: they say who asked, and when the last answer ended, which the session does not
 */
export function SessionHead({ session, leaves, onChanged }: Props & { leaves: readonly Leaf[] }) {
  const {
    session_id: id,
    session_name: name,
    created_at: first,
    latest_request_created_at: latest,
  } = session;
  const users = useMemo(() => usersOf(leaves), [leaves]);
  const lengthMs = useMemo(
    () =>
      axisOf(
        leaves.map(({ request }) => spanOf(request)),
        true,
      ).lengthMs,
    [leaves],
  );
  return (
    <header class="session-head">
      <h1>
        <Hostile text={name ?? id} />
      </h1>
      <p class="muted session-id">
        <code>
          <Hostile text={id} />
        </code>{' '}
        <CopyButton text={id} what="session id" />
      </p>
      <Facts>
        <Fact name="Requests">{count(session.total_requests)}</Fact>
        <Fact name="Until the last answer">
          {milliseconds(Math.max(lengthMs, Date.parse(latest) - Date.parse(first)))}
        </Fact>
        <Fact name="Cost">{dollars(session.total_cost)}</Fact>
        <Fact name="Tokens">
          {count(session.prompt_tokens)} + {count(session.completion_tokens)}
        </Fact>
        <Fact name="Mean latency">{milliseconds(session.avg_latency)}</Fact>
        {users.length > 0 && (
          <Fact name={users.length === 1 ? 'User' : 'Users'}>
            <Users users={users} />
          </Fact>
        )}
        {Object.entries(session.scores).map(([key, score]) => (
          <Fact key={key} name={key}>
            {decimal(score)}
          </Fact>
        ))}
        <Fact name="First request">
          <Moment at={first} />
        </Fact>
        <Fact name="Latest">
          <Moment at={latest} />
        </Fact>
      </Facts>
      <Grades session={session} onChanged={onChanged} />
    </header>
  );
}
