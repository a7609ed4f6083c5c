/** What a field for text cannot show: characters that are invisible, or reorder others. */
import { useMemo } from 'preact/hooks';
import { Hostile } from '../text/hostile.tsx';
import { splitHostile } from '../text/split-hostile.ts';

/** Shows a text with its marks below its field, when it has any. */
export function HiddenMarks({ text }: { text: string }) {
  const marks = useMemo(() => splitHostile(text).filter((piece) => typeof piece !== 'string').length, [text]);
  if (marks === 0) return null;
  return (
    <details class="draft-marks">
      <summary class="warn">Holds invisible characters</summary>
      <div class="text-plain">
        <Hostile text={text} />
      </div>
    </details>
  );
}
