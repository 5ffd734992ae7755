import { err, ok, type Result } from 'neverthrow';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** What one caller may do to one replica, so that nobody takes it from the others. */
export type CallerLimits = {
  /** Runs the work of a call, or says after how many seconds the caller may try again. */
  within<Value>(caller: string, work: () => Promise<Value>): Promise<Result<Value, { readonly retryAfterS: number }>>;
};

const CALLS_PER_SECOND = 20;
const AT_ONCE_MAX = 8;

export function callerLimits(): CallerLimits {
  const rate = new RateLimiterMemory({ points: CALLS_PER_SECOND, duration: 1 });
  const underWay = new Map<string, number>();
  return {
    within: async (caller, work) => {
      const wait = await rate.consume(caller).then(
        () => 0,
        (used: RateLimiterRes) => Math.max(1, Math.ceil(used.msBeforeNext / 1_000)),
      );
      if (wait > 0) return err({ retryAfterS: wait });
      const others = underWay.get(caller) ?? 0;
      if (others >= AT_ONCE_MAX) return err({ retryAfterS: 1 });
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
