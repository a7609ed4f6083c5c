/** Values that have no members. */
import { useState } from 'preact/hooks';
import { LongTextView } from '../conversation/long-text.tsx';
import { bytes } from '../formats/numbers.ts';
import type { JsonNode } from '../record/json-node.ts';
import type { Path } from '../record/path.ts';
import type { BodySource } from '../record/use-bodies.ts';
import { Hostile } from '../text/hostile.tsx';

/** Shows a value; a long string by its beginning, and all of it when it is asked for. */
export function ScalarText({ source, node, path }: { source: BodySource; node: JsonNode; path: Path }) {
  const [isWhole, setWhole] = useState(false);
  const { type, text, size } = node;
  if (type !== 'string')
    return (
      <span class={`json-${type}`}>
        <Hostile text={text} />
      </span>
    );
  if (isWhole) return <LongTextView source={source} text={{ text, length: size, path }} isPlain />;
  return (
    <span class="json-string">
      "<Hostile text={text} />
      {size > text.length ? '…' : '"'}
      {size > text.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all ({bytes(size)})
        </button>
      )}
    </span>
  );
}
