import { err, ok, type Result } from 'neverthrow';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import type { StoreFeed } from '../../app/ports/console.ts';

/** What one caller may do to one replica, so that nobody takes it from the others. */
export type CallerLimits = {
  /** Runs the work of a call, or says after how many seconds the caller may try again. */
  within<Value>(caller: string, work: () => Promise<Value>): Promise<Result<Value, { readonly retryAfterS: number }>>;
};

export type CallRates = { readonly perSecond: number; readonly atOnceMax: number };

/** An agent, or a job of CI. */
export const AGENT_RATES: CallRates = { perSecond: 20, atOnceMax: 8 };
/** A person's browser asks for several things for each page, and may have several pages open. */
export const PERSON_RATES: CallRates = { perSecond: 60, atOnceMax: 24 };

export function callerLimits({ perSecond, atOnceMax }: CallRates): CallerLimits {
  const rate = new RateLimiterMemory({ points: perSecond, duration: 1 });
  const underWay = new Map<string, number>();
  return {
    within: async (caller, work) => {
      const wait = await rate.consume(caller).then(
        () => 0,
        (used: RateLimiterRes) => Math.max(1, Math.ceil(used.msBeforeNext / 1_000)),
      );
      if (wait > 0) return err({ retryAfterS: wait });
      const others = underWay.get(caller) ?? 0;
      if (others >= atOnceMax) return err({ retryAfterS: 1 });
      underWay.set(caller, others + 1);
      return work()
        .then((value) => ok(value))
        .finally(() => {
          const left = (underWay.get(caller) ?? 1) - 1;
          if (left === 0) underWay.delete(caller);
          else underWay.set(caller, left);
        });
    },
  };
}

/** A page listens as long as it is open. */
const LISTENERS_MAX = 24;

/** Counts the pages of each person that listen to what changes. */
export function openListeners() {
  const open = new Map<string, number>();
  return {
    /** What somebody may listen to; `undefined` if too many of their pages do. */
    counted: (principal: string, feed: StoreFeed): StoreFeed | undefined => {
      if ((open.get(principal) ?? 0) >= LISTENERS_MAX) return undefined;
      return {
        watch: (changed) => {
          open.set(principal, (open.get(principal) ?? 0) + 1);
          const stop = feed.watch(changed);
          return () => {
            const left = (open.get(principal) ?? 1) - 1;
            if (left > 0) open.set(principal, left);
            else open.delete(principal);
            stop();
          };
        },
      };
    },
  };
}
