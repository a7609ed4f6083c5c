/** A button with a box of choices below it. The browser's own popover closes it at Escape and at a click elsewhere. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export type MenuProps = {
  onOpen?: () => void;
  title: ComponentChildren;
  /** Gets the way to close the box. */
  children: (close: () => void) => ComponentChildren;
};

/** @example <Menu title="View">{(close) => <button type="button" onClick={close}>Dense</button>}</Menu> */
export function Menu({ title, children, onOpen }: MenuProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const place = () => {
    const { bottom, right } = button.current!.getBoundingClientRect();
    const { style } = box.current!;
    style.top = `${bottom + 4}px`;
    style.right = `${Math.max(8, innerWidth - right)}px`;
    onOpen?.();
  };
  return (
    <>
      <button ref={button} type="button" popovertarget={id} onClick={place}>
        {title}
      </button>
      <div ref={box} id={id} popover="auto" class="menu">
        {children(() => box.current?.hidePopover())}
      </div>
    </>
  );
}
