/** Ctrl-K: go to a page, or to whatever a pasted id names. */
import { useState } from 'preact/hooks';
import { href, useAddress } from '../../state/address.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { Hostile } from '../text/hostile.tsx';
import { NAVIGATION } from './navigation.ts';

type Target = { label: string; url: string };

/** An id is one word without spaces that has a digit, or is long. */
function looksLikeId(text: string): boolean {
  return /^\S{6,200}$/.test(text) && (/\d/.test(text) || text.length > 20);
}

function targetsOf(text: string): Target[] {
  const wanted = text.trim();
  const pages = NAVIGATION.filter(({ label }) => label.toLowerCase().includes(wanted.toLowerCase())).map(
    ({ label, path }) => ({ label: `Go to ${label}`, url: path }),
  );
  if (wanted === '') return pages;
  const quoted = JSON.stringify(wanted);
  const ids = [
    { label: `Open request ${wanted}`, url: `/requests/${encodeURIComponent(wanted)}` },
    { label: `Open session ${wanted}`, url: `/sessions/${encodeURIComponent(wanted)}` },
    { label: `Requests of user ${wanted}`, url: href('/requests', { q: `user:${quoted}` }) },
    {
      label: `Request with the response id ${wanted}`,
      url: href('/requests', { q: `response.id:${quoted}`, range: '90d' }),
    },
  ];
  const search = { label: `Requests that contain ${wanted}`, url: href('/requests', { q: quoted }) };
  return looksLikeId(wanted) ? [...pages, ...ids, search] : [...pages, search];
}

/** A list of targets below a field; arrows choose, Enter goes. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { go } = useAddress();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const targets = targetsOf(text);
  const at = Math.min(chosen, targets.length - 1);
  const open = (target: Target | undefined) => {
    if (target === undefined) return;
    onClose();
    go(target.url);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) setChosen((at + step + targets.length) % Math.max(1, targets.length));
    else if (event.key === 'Enter') open(targets[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="text"
        class="palette-field"
        role="combobox"
        aria-label="A page, an id, or a text"
        aria-expanded="true"
        aria-controls="palette-targets"
        aria-activedescendant={`palette-target-${at}`}
        placeholder="A page, an id, or a text"
        autoComplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-targets" class="palette-targets" role="listbox" aria-label="Targets">
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its arrows and Enter choose
          <div
            key={target.url}
            id={`palette-target-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => open(target)}
          >
            <Hostile text={target.label} />
          </div>
        ))}
      </div>
    </Dialog>
  );
}
