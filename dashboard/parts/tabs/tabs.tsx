/** Tabs whose choice is in the address. */
import type { ComponentChildren } from 'preact';
import { useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';

export type Tab = { name: string; title: ComponentChildren; show: () => ComponentChildren };

export type TabsProps = {
  label: string;
  tabs: readonly Tab[];
  /** The name in the address. Default: `tab`. The first tab is there without it. */
  parameter?: string;
};

/** Shows one of its tabs. `[` and `]` go to the one before and the next. */
export function Tabs({ label, tabs, parameter = 'tab' }: TabsProps) {
  const { query, set } = useAddress();
  const at = Math.max(
    0,
    tabs.findIndex(({ name }) => name === query[parameter]),
  );
  const choose = (index: number) => {
    const next = (index + tabs.length) % tabs.length;
    set({ [parameter]: next === 0 ? null : tabs[next]!.name }, { replace: true });
  };
  useKeys(label, {
    '[': { what: 'Previous tab', run: () => choose(at - 1) },
    ']': { what: 'Next tab', run: () => choose(at + 1) },
  });
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(at + step);
    const buttons = (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]');
    buttons[(at + step + tabs.length) % tabs.length]?.focus();
  };
  const current = tabs[at]!;
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, title }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${parameter}-${name}`}
            aria-selected={index === at}
            aria-controls={`panel-${parameter}`}
            tabIndex={index === at ? 0 : -1}
            class="quiet"
            onClick={() => choose(index)}
          >
            {title}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`panel-${parameter}`}
        class="tab-panel"
        aria-labelledby={`tab-${parameter}-${current.name}`}
      >
        {current.show()}
      </div>
    </>
  );
}
