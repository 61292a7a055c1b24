import { Component, type ReactNode } from 'react';

/** Shows something else in place of what cannot be shown: other programs store documents in shapes of their own. */
export class Boundary extends Component<{ instead: ReactNode; children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.instead : this.props.children;
  }
}
