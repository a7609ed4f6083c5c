/** A fault of a page itself: the frame stays, and the page says so. */
import { Component, type ComponentChildren } from 'preact';
import { LoadAgain } from './load-again.tsx';

type Props = { children: ComponentChildren /** A new one shows the page again. */; address: string };

/** Shows its children, or that they broke. */
export class Boundary extends Component<Props, { fault: Error | null; address: string }> {
  override state: { fault: Error | null; address: string } = { fault: null, address: this.props.address };

  static override getDerivedStateFromError(fault: Error) {
    return { fault };
  }

  static override getDerivedStateFromProps(
    { address }: Props,
    state: { fault: Error | null; address: string },
  ) {
    return address === state.address ? null : { fault: null, address };
  }

  override render() {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return <LoadAgain why={`This page has a fault: ${fault.message}`} />;
  }
}
