/** Work on what may be tens of megabytes, done in slices so that it does not hold up the event loop. */
export { joinBytesInTurns, sharedInTurns } from './join-bytes.ts';
export { scanMembersInTurns } from './scan-members.ts';
export { inTurns } from './turns.ts';
