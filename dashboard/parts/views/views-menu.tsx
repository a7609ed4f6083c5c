/** Saved views of a page: links that everybody of the organization sees. */
import { useState } from 'preact/hooks';
import type { ViewJson, ViewPage } from '#core/contracts/view.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { useLater } from '../later/use-later.ts';
import { Menu } from '../menu/menu.tsx';

const loadPanel = () => import('../later/asked.ts').then(({ ViewsPanel }) => ViewsPanel);
const loadDialog = () => import('../later/asked.ts').then(({ ViewDialog }) => ViewDialog);

type Asked = { doomed: ViewJson | null };

/** A menu of the views of a page, and the way to save another. */
export function ViewsMenu({ page }: { page: ViewPage }) {
  const [wasOpened, setOpened] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const views = useResource(wasOpened ? `views ${page}` : null, (signal) =>
    call<ViewJson[]>('GET', `/v1/view?page=${page}`, undefined, signal),
  );
  const Panel = useLater(loadPanel, wasOpened);
  const Asking = useLater(loadDialog, asked !== null);
  return (
    <>
      <Menu title="Views" onOpen={() => setOpened(true)}>
        {(close) => {
          const ask = (next: Asked) => {
            close();
            setAsked(next);
          };
          if (Panel === null) return null;
          return (
            <Panel
              views={views}
              close={close}
              onSave={() => ask({ doomed: null })}
              onDelete={(doomed) => ask({ doomed })}
            />
          );
        }}
      </Menu>
      {asked !== null && Asking !== null && (
        <Asking page={page} doomed={asked.doomed} onClose={() => setAsked(null)} onChanged={views.reload} />
      )}
    </>
  );
}
