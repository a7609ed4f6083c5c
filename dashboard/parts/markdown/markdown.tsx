/** A stranger's text that is shown as Markdown: its words and their order, no HTML, no images, links that ask first. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Hostile } from '../text/hostile.tsx';
import { lexMarkdown } from './lex-markdown.ts';
import { AskingLink } from './link.tsx';
import type { MarkdownNode } from './nodes.ts';

/** A text without any of these looks the same as Markdown. */
const MAY_BE_MARKDOWN = /[*_`#[\]<>|~&\\]|^ *(?:[-+=]|\d+[.)])|https?:|www\.|@| {2}$/m;

/** Shows a text as it is until it has been read as Markdown. */
export function Markdown({ text }: { text: string }) {
  const [read, setRead] = useState<{ text: string; nodes: MarkdownNode[] } | null>(null);
  useEffect(() => {
    if (!MAY_BE_MARKDOWN.test(text)) return;
    const controller = new AbortController();
    void lexMarkdown(text, controller.signal).then((nodes) => {
      if (nodes !== null && !controller.signal.aborted) setRead({ text, nodes });
    });
    return () => controller.abort();
  }, [text]);
  if (read === null || read.text !== text)
    return (
      <div class="text-plain">
        <Hostile text={text} />
      </div>
    );
  return <div class="markdown">{show(read.nodes)}</div>;
}

function show(nodes: readonly MarkdownNode[]): ComponentChildren {
  return nodes.map((node, index) => <Node key={index} node={node} />);
}

function Node({ node }: { node: MarkdownNode }) {
  switch (node.kind) {
    case 'text':
      return <Hostile text={node.text} />;
    case 'code-span':
      return (
        <code>
          <Hostile text={node.text} />
        </code>
      );
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <pre class="markdown-code" tabIndex={0}>
          <code>
            <Hostile text={node.text} />
          </code>
        </pre>
      );
    case 'rule':
      return <hr />;
    case 'break':
      return <br />;
    case 'strong':
      return <strong>{show(node.children)}</strong>;
    case 'emphasis':
      return <em>{show(node.children)}</em>;
    case 'deleted':
      return <del>{show(node.children)}</del>;
    case 'paragraph':
      return <p>{show(node.children)}</p>;
    case 'quote':
      return <blockquote>{show(node.children)}</blockquote>;
    case 'heading':
      // The page's own outline is not a stranger's to write.
      return <p class={node.level <= 2 ? 'markdown-title' : 'markdown-subtitle'}>{show(node.children)}</p>;
    case 'list':
      return node.start === null ? (
        <ul>{show(node.children)}</ul>
      ) : (
        <ol start={node.start}>{show(node.children)}</ol>
      );
    case 'item':
      return (
        <li>
          {node.isDone !== null && (node.isDone ? '☑ ' : '☐ ')}
          {show(node.children)}
        </li>
      );
    case 'link':
      return <AskingLink address={node.address}>{show(node.children)}</AskingLink>;
    case 'image':
      return <RemoteImage address={node.address} />;
    default:
      return <Table node={node} />;
  }
}

function Table({ node }: { node: MarkdownNode & { children: MarkdownNode[] } }) {
  if (node.kind === 'row') return <tr>{show(node.children)}</tr>;
  if (node.kind === 'head-cell') return <th scope="col">{show(node.children)}</th>;
  if (node.kind === 'cell') return <td>{show(node.children)}</td>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="markdown-table" tabIndex={0}>
      <table>
        <tbody>{show(node.children)}</tbody>
      </table>
    </div>
  );
}

/** An image elsewhere: its address. To load it would tell its owner who reads this. */
export function RemoteImage({ address }: { address: string }) {
  return (
    <span class="chip text-chip" title="Images elsewhere are not loaded">
      🖼 <Hostile text={address} />
    </span>
  );
}
