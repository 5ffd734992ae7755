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

export type CheckedView = WholeView | SalvagedView;

type Healthy = Extract<SessionHealth, { kind: 'healthy' }>;

/** Says of a view whether it shows a whole session, which only the health found while reading can tell. */
export function checkedView(view: SessionView, health: Healthy): WholeView;
export function checkedView(view: SessionView, health: SessionHealth): CheckedView;
export function checkedView(view: SessionView, health: SessionHealth): CheckedView {
  return health.kind === 'healthy' ? ({ kind: 'whole', view } as WholeView) : { kind: 'salvaged', health, view };
}
