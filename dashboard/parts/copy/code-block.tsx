/** Code to copy. */
import { CopyButton } from './copy.tsx';

/** @param what names the code on the button */
export function CodeBlock({ code, what }: { code: string; what: string }) {
  return (
    <div class="code-block">
      <CopyButton text={code} what={what} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  );
}
