import type { SessionHealth } from '../log/health.ts';
import type { SessionView } from './session-view.ts';

declare const whole: unique symbol;

/** A view over everything a healthy session holds; only `labelView` makes one. What goes on with a run asks for this. */
export type WholeView = { readonly kind: 'whole'; readonly view: SessionView; readonly [whole]: true };

/** A view over the readable start of a damaged session: to look at under a banner, never to go on from. */
export type SalvagedView = {
  readonly kind: 'salvaged';
  readonly health: Exclude<SessionHealth, { kind: 'healthy' }>;
  readonly view: SessionView;
};

export type LabelledView = WholeView | SalvagedView;

/** Says of a view whether it shows a whole session. */
export function labelView(view: SessionView, health: SessionHealth): LabelledView {
  return health.kind === 'healthy' ? wholeView(view) : { kind: 'salvaged', health, view };
}

/** For a session that was found healthy. */
export function wholeView(view: SessionView): WholeView {
  return { kind: 'whole', view } as WholeView;
}
