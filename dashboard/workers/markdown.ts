/** Reads Markdown. The page ends this worker when a text takes too long. */
import { readMarkdown } from '../parts/markdown/read-markdown.ts';

addEventListener('message', ({ data: text }: MessageEvent<string>) => postMessage(readMarkdown(text)));
// Until now it was being loaded, which counts for no text.
postMessage('ready');
