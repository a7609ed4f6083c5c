/** A request on a page of its own. */
import { RequestView } from '../../parts/request/request-view.tsx';

/** The page /requests/:id. */
export function RequestPage({ id }: { id: string }) {
  return (
    <div class="request-page">
      <div class="page-head">
        <h1>Request</h1>
        <a href="/requests">All requests</a>
      </div>
      <RequestView id={id} />
    </div>
  );
}
