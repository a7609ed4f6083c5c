/** Sessions: trees by path, what is new in a conversation, distributions. Pure. */
export { countSeen, type Shown } from './conversation.ts';
export {
  BUCKETS,
  bucketOf,
  countOf,
  histogramOf,
  type Point,
  percentileOf,
  valueOfBucket,
} from './distribution.ts';
export { lastOfSession } from './last-request.ts';
export { type PathNode, pathTree } from './path-tree.ts';
export { type Said, saidIn } from './turn.ts';
