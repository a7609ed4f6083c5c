/** An image in a body. */
import { useEffect, useState } from 'preact/hooks';
import { toFailure } from '../../client/resource.ts';
import { bytes } from '../formats/numbers.ts';
import type { BodySource } from '../record/use-bodies.ts';
import { Hostile } from '../text/hostile.tsx';
import type { Part } from './model/types.ts';

/** Larger images are shown when they are asked for. */
const SHOWN_AT_ONCE = 4 * 1024 * 1024;

type ImagePart = Extract<Part, { kind: 'image' }>;
type Shown = { kind: 'address'; address: string; type: string } | { kind: 'refused'; reason: string };

/** Shows an image of a type that runs nothing, as its bytes say; anything else is named. */
export function BodyImage({ source, part }: { source: BodySource; part: ImagePart }) {
  const [isWanted, setWanted] = useState(part.bytes <= SHOWN_AT_ONCE);
  const [shown, setShown] = useState<Shown | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the part of a place in a conversation stays the same
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    let address: string | null = null;
    const load = async () => {
      const image = await source.ask.image(part.path);
      if (isGone) return;
      if (image.kind === 'refused') {
        setShown(image);
        return;
      }
      address = URL.createObjectURL(new Blob([image.bytes], { type: image.type }));
      setShown({ kind: 'address', address, type: image.type });
    };
    load().catch((error) => !isGone && setShown({ kind: 'refused', reason: toFailure(error).message }));
    return () => {
      isGone = true;
      if (address !== null) URL.revokeObjectURL(address);
    };
  }, [isWanted, source]);
  const claimed = part.type === null ? 'image' : part.type;
  const size = bytes(part.bytes);
  if (!isWanted)
    return (
      <button type="button" onClick={() => setWanted(true)}>
        Show image ({size})
      </button>
    );
  if (shown?.kind !== 'address')
    return (
      <span class="chip text-chip">
        <Hostile text={claimed} /> · {size}
        {shown !== null && <span class="warn">{shown.reason}</span>}
      </span>
    );
  return (
    <figure class="conversation-image">
      <img src={shown.address} alt={`${shown.type} in the message`} decoding="async" />
      <figcaption class="muted">
        {shown.type} · {size}
      </figcaption>
    </figure>
  );
}
