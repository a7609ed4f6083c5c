/** A link in a stranger's text. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../dialog/dialog.tsx';
import { Hostile } from '../text/hostile.tsx';

function placeOf(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return protocol === 'mailto:' ? pathname : host;
}

/**
 * Shows where a link leads, and asks before it opens.
 * @param address of http, https or mailto
 */
export function AskingLink({ address, children }: { address: string; children: ComponentChildren }) {
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  return (
    <>
      <button type="button" class="markdown-link" onClick={() => setAsking(true)}>
        {children}
        <span class="markdown-host">
          <Hostile text={placeOf(address)} />
        </span>
      </button>
      {isAsking && (
        <Dialog
          title="Open this address?"
          onClose={close}
          actions={
            <>
              <button type="button" onClick={close}>
                Stay here
              </button>
              <a class="button" href={address} target="_blank" rel="noopener noreferrer" onClick={close}>
                Open in a new tab
              </a>
            </>
          }
        >
          <p>It was written by the caller or the model, and leads out of Assay.</p>
          <p class="mono text-break">
            <Hostile text={address} />
          </p>
        </Dialog>
      )}
    </>
  );
}
