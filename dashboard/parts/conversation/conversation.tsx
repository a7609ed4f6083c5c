/** The conversation of a record: what was asked, and what came back. */
import { useState } from 'preact/hooks';
import { remember } from '../../client/recent.ts';
import { useResource } from '../../client/resource.ts';
import { useAddress } from '../../state/address.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { count, plural } from '../formats/numbers.ts';
import { JsonTree } from '../json/json-tree.tsx';
import { bodiesOf } from '../record/open-record.ts';
import type { BodySource } from '../record/use-bodies.ts';
import { Hostile } from '../text/hostile.tsx';
import type { ConversationPage, Message, Notice, Part, Side } from './model/types.ts';
import { Parts } from './part.tsx';

/** Messages that are shown at once; more come by a click. */
const PAGE = 30;
/** UTF-16 code units of instructions that are shown without being asked for. */
const SHORT_INSTRUCTIONS = 600;
const INSTRUCTING = new Set(['system', 'developer']);

/**
 * Shows both sides of a record. `view=text` in the address shows texts as they are, rather than as Markdown.
 * @example <Conversation source={useBodies(requestId)} />
 */
export function Conversation({ source }: { source: BodySource }) {
  return (
    <div class="conversation">
      <TextView />
      <Sides source={source} />
    </div>
  );
}

/** Chooses how texts are shown, for all conversations of a page. */
export function TextView() {
  const { query, set } = useAddress();
  const isPlain = query.view === 'text';
  return (
    <div class="conversation-head">
      <fieldset class="conversation-view">
        <legend class="unseen">Texts</legend>
        <button type="button" aria-pressed={!isPlain} onClick={() => set({ view: null }, { replace: true })}>
          Markdown
        </button>
        <button type="button" aria-pressed={isPlain} onClick={() => set({ view: 'text' }, { replace: true })}>
          Text
        </button>
      </fieldset>
    </div>
  );
}

/**
 * Shows what was asked, and what came back.
 * @param of names the conversation where a page shows several
 */
export function Sides({ source, of }: { source: BodySource; of?: string }) {
  const { query } = useAddress();
  const isPlain = query.view === 'text';
  return (
    <>
      <SideView source={source} side="request" isPlain={isPlain} of={of} />
      <SideView source={source} side="response" isPlain={isPlain} of={of} />
    </>
  );
}

/** Shows one side of a record as its texts are. */
export function ConversationSide(props: Omit<SideProps, 'isPlain'>) {
  return (
    <div class="conversation">
      <SideView {...props} isPlain of={undefined} />
    </div>
  );
}

const sideKey = (sourceId: string, side: Side) => `conversation ${sourceId} ${side}`;

/**
 * Loads what a conversation shows first, so that it is there at once when it is shown.
 * @throws ApiFailure, AbortError
 */
export async function loadConversationAhead(requestId: string, signal: AbortSignal): Promise<void> {
  const { conversation } = bodiesOf(requestId, signal);
  for (const side of ['request', 'response'] as const)
    remember(sideKey(requestId, side), await conversation(side, 0, PAGE));
}

type SideProps = { source: BodySource; side: Side; isPlain: boolean };

function SideView({ source, side, isPlain, of }: SideProps & { of: string | undefined }) {
  const key = sideKey(source.id, side);
  const { data, dataKey, failure, isLoading, reload } = useResource(key, () =>
    source.ask.conversation(side, 0, PAGE),
  );
  const title = side === 'request' ? 'Request' : 'Response';
  return (
    <section
      class="conversation-side"
      aria-label={of === undefined ? title : `${of}: ${title}`}
      aria-busy={isLoading && data === null}
    >
      <FailureNotice failure={failure} retry={reload} />
      {/* A new key means new places of kept values, and a text that has been opened belongs to the old ones. */}
      {data !== null && dataKey === key && (
        <FirstPage key={key} source={source} side={side} isPlain={isPlain} page={data} />
      )}
    </section>
  );
}

function FirstPage({ source, side, isPlain, page }: SideProps & { page: ConversationPage }) {
  const { notice, tools, settings, messages, total } = page;
  return (
    <>
      {notice !== null && <NoticeView notice={notice} />}
      {tools !== null && (
        <details class="conversation-aside">
          <summary>
            {plural(tools.count, 'tool')}:{' '}
            {tools.names.map((name, index) => (
              <span key={index} class="chip">
                <Hostile text={name} />
              </span>
            ))}
          </summary>
          <JsonTree source={source} root={tools.root} label="Tools" isOpen />
        </details>
      )}
      {messages.map((message, index) => (
        <MessageView key={index} source={source} message={message} isPlain={isPlain} />
      ))}
      {total > messages.length && (
        <MorePages source={source} side={side} isPlain={isPlain} from={PAGE} total={total} />
      )}
      {total === 0 && notice === null && (
        <p class="muted">{side === 'request' ? 'No messages' : 'No answer'}</p>
      )}
      {settings !== null && (
        <details class="conversation-aside">
          <summary>{side === 'request' ? 'Parameters' : 'Other fields'}</summary>
          <JsonTree source={source} root={settings} label="Fields" isOpen />
        </details>
      )}
    </>
  );
}

function NoticeView({ notice: { title, detail } }: { notice: Notice }) {
  return (
    <div class="conversation-notice" role="note">
      <strong class="bad">{title}</strong>
      {detail !== null && (
        <p class="text-plain">
          <Hostile text={detail} />
        </p>
      )}
    </div>
  );
}

/** A page of messages, and below it the next one when it is asked for. */
function MorePages({ from, total, ...rest }: SideProps & { from: number; total: number }) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen)
    return (
      <button type="button" class="conversation-more" onClick={() => setOpen(true)}>
        Show {count(Math.min(PAGE, total - from))} more of {count(total)} messages
      </button>
    );
  return <Page from={from} total={total} {...rest} />;
}

function Page({ source, side, isPlain, from, total }: SideProps & { from: number; total: number }) {
  const key = `conversation ${source.id} ${side} ${from}`;
  const { data, failure, reload } = useResource(key, () => source.ask.conversation(side, from, PAGE));
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      {data?.messages.map((message, index) => (
        <MessageView key={index} source={source} message={message} isPlain={isPlain} />
      ))}
      {data !== null && from + PAGE < total && (
        <MorePages source={source} side={side} isPlain={isPlain} from={from + PAGE} total={total} />
      )}
    </>
  );
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0);
}

type MessageProps = { source: BodySource; message: Message; isPlain: boolean };

function MessageView({ source, message: { role, detail, parts }, isPlain }: MessageProps) {
  const isCollapsed = INSTRUCTING.has(role) && lengthOf(parts) > SHORT_INSTRUCTIONS;
  return (
    <details class="conversation-message" open={!isCollapsed}>
      <summary>
        <span class="conversation-role">
          <Hostile text={role} />
        </span>
        {detail !== null && (
          <span class="muted">
            <Hostile text={detail} />
          </span>
        )}
      </summary>
      <div class="conversation-parts">
        <Parts source={source} parts={parts} isPlain={isPlain} />
        {parts.length === 0 && <p class="muted">Empty</p>}
      </div>
    </details>
  );
}
