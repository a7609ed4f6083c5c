/** The dashboard as the API serves it. */
export { type Dashboard, readDashboard } from './dashboard.ts';
export { fileReply, isPageRequest, pageReply, referenceReply } from './replies.ts';
