/** Pages that show what was logged, beside the list of requests. Fetched together: apart, what they share would be many small files. */

export { Compare } from './compare/compare.tsx';
export { RequestPage } from './request/request.tsx';
export { SessionPage } from './session/session.tsx';
export { Sessions } from './sessions/sessions.tsx';
export { UserPage } from './user/user.tsx';
export { Users } from './users/users.tsx';
