import { useEffect } from 'preact/hooks';

const PRODUCT = 'Assay';

/**
 * Names the tab, and so bookmarks and the history, after the heading of the page. It is read from the document, because many
 * pages have theirs after what they load; other changes of the page cost a look at its first heading.
 */
export function usePageTitle(): void {
  useEffect(() => {
    const page = document.querySelector('#page')!;
    const name = () => {
      const heading = page.querySelector('h1')?.textContent;
      const title = heading ? `${heading} · ${PRODUCT}` : PRODUCT;
      if (document.title !== title) document.title = title;
    };
    const observer = new MutationObserver(name);
    observer.observe(page, { subtree: true, childList: true, characterData: true });
    name();
    return () => {
      observer.disconnect();
      document.title = PRODUCT;
    };
  }, []);
}
