/** Components that do not render again without need. */
import { type Component, createElement, type FunctionComponent } from 'preact';

/**
 * Returns a component that renders again only when one of its properties is another one: a list has hundreds of cells, and
 * renders at each step of a scroll and at each key.
 */
export function memo<Props extends object>(component: FunctionComponent<Props>): FunctionComponent<Props> {
  function Memo(this: Component<Props>, props: Props) {
    this.shouldComponentUpdate = (next) => {
      const names = Object.keys({ ...this.props, ...next }) as (keyof Props)[];
      return names.some((name) => next[name] !== this.props[name]);
    };
    return createElement(component, props);
  }
  return Memo;
}
