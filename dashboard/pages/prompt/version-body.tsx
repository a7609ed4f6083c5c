/** The body of a version, alone or compared with another one's. */
import { StructureTable } from '../../parts/diff/structure-table.tsx';
import { TextDiff } from '../../parts/diff/text-diff.tsx';
import { pretty } from '../../parts/draft/messages.ts';
import { versionName, type WholeVersion } from '../../parts/prompts/load.ts';
import { othersOf } from '../../parts/prompts/stored-body.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { type MessagePair, type MessageText, messageTexts, pairMessages } from './message-texts.ts';
import { splitVariables } from './split-variables.ts';

function Marked({ text, names }: { text: string; names: ReadonlySet<string> }) {
  return splitVariables(text, names).map(({ text: piece, isVariable }, index) =>
    isVariable ? (
      <mark key={index} class="prompt-variable">
        <Hostile text={piece} />
      </mark>
    ) : (
      <Hostile key={index} text={piece} />
    ),
  );
}

function MessageCard({
  message: { role, text },
  names,
}: {
  message: MessageText;
  names: ReadonlySet<string>;
}) {
  return (
    <li class="card">
      <strong>
        <Hostile text={role} />
      </strong>
      <div class="text-plain">
        <Marked text={text} names={names} />
      </div>
    </li>
  );
}

/** Shows messages with their variables marked, and the rest as JSON. */
export function VersionBody({ version }: { version: WholeVersion }) {
  const { prompt_body: body, variables } = version;
  const names = new Set(variables.map(({ name }) => name));
  const messages = messageTexts(body);
  const others = othersOf(body);
  return (
    <>
      {variables.length > 0 && (
        <p>
          Variables:{' '}
          {variables.map(({ name, type }) => (
            <span key={name} class="chip">
              <Hostile text={name} /> {type !== null && <span class="muted">{type}</span>}
            </span>
          ))}
        </p>
      )}
      <ol class="draft-messages">
        {messages.map((message, index) => (
          <MessageCard key={index} message={message} names={names} />
        ))}
      </ol>
      {Object.keys(others).length > 0 && (
        <>
          <h3>Other fields</h3>
          <pre class="prompt-json text-plain">
            <Hostile text={pretty(others)} />
          </pre>
        </>
      )}
    </>
  );
}

function Pair({ pair: { before, after } }: { pair: MessagePair }) {
  const role = after?.role ?? before!.role;
  return (
    <li class="card">
      <strong>
        {before !== null && before.role !== role ? (
          <TextDiff before={before.role} after={role} />
        ) : (
          <Hostile text={role} />
        )}
      </strong>{' '}
      {before === null && <span class="chip chip-good">added</span>}
      {after === null && <span class="chip chip-bad">removed</span>}
      <TextDiff before={before?.text ?? ''} after={after?.text ?? ''} />
    </li>
  );
}

/** Shows what a version changed of another one: words of messages, and fields of the rest. */
export function VersionDiff({ before, after }: { before: WholeVersion; after: WholeVersion }) {
  const pairs = pairMessages(messageTexts(before.prompt_body), messageTexts(after.prompt_body));
  const documents = [before, after].map(({ prompt_body: { messages: _, ...others } }) => others);
  return (
    <>
      <ol class="draft-messages">
        {pairs.map((pair, index) => (
          <Pair key={index} pair={pair} />
        ))}
      </ol>
      <h3>Other fields</h3>
      <StructureTable documents={documents} titles={[before, after].map(versionName)} />
    </>
  );
}
