/** A text that a stranger wrote. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { labelOf, type Mark, splitHostile } from './split-hostile.ts';

/** A mark; what it stands for comes a moment later. */
function MarkView({ mark }: { mark: Mark }) {
  const [title, setTitle] = useState<string | undefined>(undefined);
  const { hidden } = mark;
  useEffect(() => {
    let isShown = true;
    import('./mark-titles.ts').then(
      ({ titleOf }) => isShown && setTitle(titleOf({ hidden })),
      // The mark says enough.
      () => {},
    );
    return () => {
      isShown = false;
    };
  }, [hidden]);
  return (
    <span class="text-mark" title={title}>
      {labelOf(mark)}
    </span>
  );
}

/**
 * Shows a text whose invisible and reordering characters are marks, and which cannot change the order of what stands around it.
 * @example <Hostile text={record.model} />
 */
export function Hostile({ text }: { text: string }) {
  const pieces = useMemo(() => splitHostile(text), [text]);
  return (
    <bdi>
      {pieces.map((piece, index) =>
        typeof piece === 'string' ? piece : <MarkView key={index} mark={piece} />,
      )}
    </bdi>
  );
}
