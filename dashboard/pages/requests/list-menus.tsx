/** Menus of the list: its saved views, how it looks, and what is done with all that it finds. */
import { useState } from 'preact/hooks';
import { Menu } from '../../parts/menu/menu.tsx';
import { ViewsMenu } from '../../parts/views/views-menu.tsx';
import { preferences, setPreferences } from '../../state/preferences.ts';
import { ColumnChooser } from './column-chooser.tsx';
import { ExportDialog } from './export-dialog.tsx';
import type { RequestList } from './use-list.ts';

/** How the list looks, and what is done with all that it finds. */
function Options({ list }: { list: RequestList }) {
  const [opened, setOpened] = useState<'columns' | 'export' | null>(null);
  const { isDense } = preferences.value;
  const close = () => setOpened(null);
  return (
    <>
      <Menu title="More">
        {(hide) => (
          <>
            <button
              type="button"
              onClick={() => {
                hide();
                setOpened('columns');
              }}
            >
              Columns…
            </button>
            <button
              type="button"
              aria-pressed={isDense}
              onClick={() => setPreferences({ isDense: !isDense })}
            >
              Dense rows
            </button>
            <button
              type="button"
              onClick={() => {
                hide();
                setOpened('export');
              }}
            >
              Export all of these…
            </button>
          </>
        )}
      </Menu>
      {opened === 'columns' && <ColumnChooser list={list} onClose={close} />}
      {opened === 'export' && <ExportDialog q={list.wholeQuery} onClose={close} />}
    </>
  );
}

/** The buttons of the menus. */
export function ListMenus({ list }: { list: RequestList }) {
  return (
    <>
      <ViewsMenu page="requests" />
      <Options list={list} />
    </>
  );
}
