/** Parts of messages. */
import { JsonTree } from '../json/json-tree.tsx';
import { RemoteImage } from '../markdown/markdown.tsx';
import type { BodySource } from '../record/use-bodies.ts';
import { Hostile } from '../text/hostile.tsx';
import { BodyImage } from './image.tsx';
import { LongTextView } from './long-text.tsx';
import type { Part } from './model/types.ts';

export type PartsProps = { source: BodySource; parts: readonly Part[]; isPlain: boolean };

/** Shows parts in their order. */
export function Parts({ parts, ...rest }: PartsProps) {
  return parts.map((part, index) => <PartView key={index} part={part} {...rest} />);
}

function PartView({ part, source, isPlain }: { part: Part; source: BodySource; isPlain: boolean }) {
  switch (part.kind) {
    case 'text':
      return <LongTextView source={source} text={part.text} isPlain={isPlain} />;
    case 'thinking':
      return (
        <details class="conversation-aside">
          <summary>Thinking</summary>
          <LongTextView source={source} text={part.text} isPlain={isPlain} />
        </details>
      );
    case 'refusal':
      return (
        <div class="conversation-refusal">
          <span class="chip chip-warn">Refusal</span>
          <LongTextView source={source} text={part.text} isPlain />
        </div>
      );
    case 'tool-call':
      return (
        <div class="conversation-tool">
          <p class="conversation-tool-head">
            <span class="chip">Tool call</span>{' '}
            <strong class="mono">
              <Hostile text={part.name} />
            </strong>{' '}
            <CallId id={part.id} />
          </p>
          <JsonTree source={source} root={part.given} label="Arguments" isOpen />
        </div>
      );
    case 'tool-result':
      return (
        <div class="conversation-tool">
          <p class="conversation-tool-head">
            <span class={part.isError ? 'chip chip-bad' : 'chip'}>
              {part.isError ? 'Tool error' : 'Tool result'}
            </span>{' '}
            <CallId id={part.id} />
          </p>
          <Parts source={source} parts={part.parts} isPlain={isPlain} />
        </div>
      );
    case 'image':
      return <BodyImage source={source} part={part} />;
    case 'remote-image':
      return <RemoteImage address={part.address} />;
    case 'chip':
      return (
        <span class="chip text-chip">
          <Hostile text={part.label} />
          {part.detail !== '' && (
            <span>
              · <Hostile text={part.detail} />
            </span>
          )}
        </span>
      );
    case 'data':
      return <JsonTree source={source} root={part.root} label={part.label} isOpen />;
  }
}

function CallId({ id }: { id: string | null }) {
  if (id === null) return null;
  return (
    <span class="muted mono">
      <Hostile text={id} />
    </span>
  );
}
