/** The request beside the list. */
import { CopyButton } from '../copy/copy.tsx';
import { RequestView } from '../request/request-view.tsx';
import { SideDrawer } from './side-drawer.tsx';

export type DrawerProps = {
  id: string;
  /** Requests that will probably be opened next. */
  neighbours: readonly string[];
  onClose: () => void;
};

/** Shows a request; the list keeps its place and the focus. */
export function Drawer({ id, neighbours, onClose }: DrawerProps) {
  const page = `/requests/${encodeURIComponent(id)}`;
  return (
    <SideDrawer
      what="request"
      id={id}
      onClose={onClose}
      head={
        <>
          <a href={page}>Open page</a>
          <CopyButton text={`${location.origin}${page}`} what="link to the request" label="Copy link" />
        </>
      }
    >
      <RequestView id={id} neighbours={neighbours} />
    </SideDrawer>
  );
}
