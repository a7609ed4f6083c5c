/** The files of the dashboard, and the API reference. Pages answer any other path that a browser asks for, see app.ts. */
import { Elysia } from 'elysia';
import { type Dashboard, fileReply, referenceReply } from '../pages/mod.ts';

/** `dashboard` is null when it is not built. */
export function pageRoutes(dashboard: Dashboard | null) {
  return new Elysia({ name: 'api/pages' })
    .get('/openapi', () => referenceReply(dashboard))
    .get('/assets/:name', ({ params, request }) => fileReply(dashboard, params.name, request));
}
