/** Answers of every dialect as data: usage, assembled streams, the skeleton of an omitted answer. Pure. */
export { type AssembledStream, assembleInTurns, assembleStream } from './assemble.ts';
export { readFrameData } from './frame-data.ts';
export { answerSkeleton } from './skeleton.ts';
export { readBegunUsage, readUsage, textUsage, type Usage } from './usage.ts';
