/** Texts beside one another. */
import { TextDiff } from '../../parts/diff/text-diff.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';

/** UTF-16 code units that are compared; the rest can be read in the request itself. */
const LONGEST = 32 * 1024;

export type TextColumnsProps = {
  texts: readonly string[];
  /** The text that the others are compared with. */
  base: number;
  isDiff: boolean;
  /** Above the texts. */
  titles?: readonly string[];
};

/** Shows a column a text. */
export function TextColumns({ texts, base, isDiff, titles }: TextColumnsProps) {
  const shown = texts.map((text) => text.slice(0, LONGEST));
  return (
    <div class="compare-columns">
      {shown.map((text, index) => (
        <div key={index} class="card">
          {titles !== undefined && <h4>{titles[index]}</h4>}
          {isDiff && index !== base ? (
            <TextDiff before={shown[base]!} after={text} />
          ) : (
            <p class="diff-text">
              <Hostile text={text} />
            </p>
          )}
          {texts[index]!.length > LONGEST && <p class="muted">The beginning; the text is longer.</p>}
        </div>
      ))}
    </div>
  );
}
