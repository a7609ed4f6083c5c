/** What can stand at a place of a query's text. Apart from the rest of the language: a page fetches it when it is asked for. */
export { type Completion, completeAt, type Option, valueOptions } from './complete.ts';
