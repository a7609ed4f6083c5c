/**
 * Bodies of every dialect as data: texts, previews, usage, assembled streams, the skeleton of an omitted answer. Pure;
 * streams are assembled by browsers, too: nothing that is reached when it is loaded needs Node.
 */
export { type AssembledStream, assembleInTurns, assembleStream } from './assemble.ts';
export { inputText, outputText, plainText, type Spoken, spokenMessage } from './body-texts.ts';
export { readFrameData } from './frame-data.ts';
export { PREVIEW_LENGTH, previewOfAnswer, previewOfQuestion } from './preview.ts';
export { answerSkeleton, SKELETON_MEMBERS } from './skeleton.ts';
export { errorOf } from './streams/error.ts';
export { readBegunUsage, readUsage, textUsage, toldCostNano, type Usage } from './usage.ts';
