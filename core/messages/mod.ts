/** Messages of bodies in any dialect. Pure, and loaded by browsers too. */
export { answerOf, messagesOf } from './messages-of.ts';
