/** A text of any length: its beginning, and the rest in pieces. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes } from '../formats/numbers.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { LONGEST_MARKDOWN } from '../markdown/nodes.ts';
import type { BodySource } from '../record/use-bodies.ts';
import { Hostile } from '../text/hostile.tsx';
import { tell } from '../toast/toast.tsx';
import type { LongText } from './model/types.ts';

/** UTF-16 code units that are laid out in one turn of the page. */
const PIECE = 16 * 1024;
/** UTF-16 code units that one click shows. */
const MORE = 1024 * 1024;

/** Returns a piece without its end after the last line break, if there is one in its second half. */
function wholeLines(text: string): string {
  const newline = text.lastIndexOf('\n');
  return newline > text.length / 2 ? text.slice(0, newline + 1) : text;
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

export type LongTextViewProps = { source: BodySource; text: LongText; isPlain: boolean };

/** Shows a text as Markdown or as it is. Longer texts than Markdown takes are shown as they are. */
export function LongTextView({ source, text: { text, length, path }, isPlain }: LongTextViewProps) {
  const [pieces, setPieces] = useState<readonly string[]>([text]);
  const [isLoading, setLoading] = useState(false);
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  const shown = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const left = length - shown;
  const step = Math.min(left, MORE);

  const showMore = async () => {
    setLoading(true);
    try {
      for (let from = shown; from < shown + step && isShown.current; ) {
        const piece = await source.ask.text(path, from, from + PIECE);
        const next = piece.to === length ? piece.text : wholeLines(piece.text);
        if (next === '') break;
        setPieces((before) => [...before, next]);
        from += next.length;
        // One piece a frame: each is laid out alone.
        await nextFrame();
      }
    } catch {
      tell('The rest of the text cannot be read', { isBad: true });
    }
    setLoading(false);
  };

  return (
    <div class="conversation-text">
      {!isPlain && shown <= LONGEST_MARKDOWN ? (
        <Markdown text={pieces.join('')} />
      ) : (
        pieces.map((piece, index) => (
          <div key={index} class="text-plain">
            <Hostile text={piece.endsWith('\n') ? piece.slice(0, -1) : piece} />
          </div>
        ))
      )}
      {left > 0 && (
        <button type="button" class="conversation-more" disabled={isLoading} onClick={showMore}>
          {step === left ? `Show all (${bytes(length)})` : `Show ${bytes(step)} more of ${bytes(length)}`}
        </button>
      )}
    </div>
  );
}
