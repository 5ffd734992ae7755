import type { JsonObject } from '../../json/json-value.ts';
import type { EventOf } from '../../log/event.ts';
import type { TraceEntry } from '../../log/events/trace-events.ts';
import type { EngineState } from '../../log/execution-snapshot.ts';
import type { LoopId, StepId } from '../../log/ids.ts';

/** A loop that cannot simply go on. */
export type LoopTrouble =
  /** It wants another iteration and has had all it may have. */
  | {
      readonly kind: 'limit_reached';
      readonly loopId: LoopId;
      /** The one it stands at, counted from 0. */
      readonly iteration: number;
      readonly maxIterations: number;
      /** Whether an artifact decided to go on; then deciding to stop is the way out. */
      readonly isByArtifact: boolean;
    }
  /** What it walks over is longer than it may be. */
  | {
      readonly kind: 'too_many_items';
      readonly loopId: LoopId;
      readonly variable: string;
      readonly found: number;
      readonly maxIterations: number;
    }
  /** What it walks over takes more room than a snapshot has for it. */
  | {
      readonly kind: 'items_too_large';
      readonly loopId: LoopId;
      readonly variable: string;
      readonly bytes: number;
      readonly bytesMax: number;
    }
  /** What it walks over is not in context, or is no list or count. */
  | {
      readonly kind: 'not_iterable';
      readonly loopId: LoopId;
      readonly variable: string;
      readonly wanted: 'list' | 'count';
      /** In words: "nothing", "a text". */
      readonly found: string;
    }
  /** It goes round without a step that is due, and one walk can record only so much of that. */
  | {
      readonly kind: 'nothing_due';
      readonly loopId: LoopId;
      /** The one it stands at, counted from 0. */
      readonly iteration: number;
      /** Steps and loops passed since the last step that was due. */
      readonly passed: number;
    };

/** A step that was passed because nobody has set what its condition asks for. */
export type UnsetSkip = {
  readonly stepId: StepId;
  readonly keys: readonly string[];
  /** Values of these keys by which it is due, where they can be told. */
  readonly context: JsonObject;
};

/** Where a run goes from a state: forward to the next step that is due, past what is not. */
export type Walk = {
  /** In a halted walk, the state it began from. */
  readonly state: EngineState;
  readonly isHalted: boolean;
  readonly troubles: readonly LoopTrouble[];
  /** None in a halted walk: it passed nothing for good. */
  readonly skipped: readonly EventOf<'step_skipped'>['data'][];
  /** Those of the skipped whose conditions hinge on keys that are not in context; absent where there are none. */
  readonly unset?: readonly UnsetSkip[];
  /** In a halted walk, what led to its trouble. */
  readonly trace: readonly TraceEntry[];
};

/** Values that a place inside of loops sees by the names its loops give them. */
export type LoopVariables = JsonObject;
