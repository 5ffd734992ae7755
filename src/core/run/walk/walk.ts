import type { JsonObject } from '../../json/json-value.ts';
import type { EventOf } from '../../log/event.ts';
import type { TraceEntry } from '../../log/events/graph-events.ts';
import type { EngineState } from '../../log/execution-snapshot.ts';
import type { LoopId, StepId } from '../../log/ids.ts';

/** Why a loop cannot continue. */
export type LoopTrouble =
  /** It needs another iteration and has reached its limit. */
  | {
      readonly kind: 'limit_reached';
      readonly loopId: LoopId;
      /** The current iteration, counted from 0. */
      readonly iteration: number;
      readonly maxIterations: number;
      /** Whether an artifact decided to continue; then an artifact can also decide to stop. */
      readonly isByArtifact: boolean;
    }
  /** It has more items than its limit allows. */
  | {
      readonly kind: 'too_many_items';
      readonly loopId: LoopId;
      readonly variable: string;
      readonly found: number;
      readonly maxIterations: number;
    }
  /** Its items are too large for a snapshot. */
  | {
      readonly kind: 'items_too_large';
      readonly loopId: LoopId;
      readonly variable: string;
      readonly bytes: number;
      readonly bytesMax: number;
    }
  /** What it iterates over is not in context, or is neither a list nor a count. */
  | {
      readonly kind: 'not_iterable';
      readonly loopId: LoopId;
      readonly variable: string;
      readonly wanted: 'list' | 'count';
      /** In words: "nothing", "a text". */
      readonly found: string;
    }
  /** It iterates without a step that is due, and one walk can record only a limited number of skipped steps. */
  | {
      readonly kind: 'nothing_due';
      readonly loopId: LoopId;
      /** The current iteration, counted from 0. */
      readonly iteration: number;
      /** Steps and loops skipped since the last step that was due. */
      readonly passed: number;
    };

/** A step that was skipped because context does not have what its condition asks for. */
export type UnsetSkip = {
  readonly stepId: StepId;
  readonly keys: readonly string[];
  /** Values of these keys that would make it due, as far as they are known. */
  readonly context: JsonObject;
};

/** The result of walking from a state to the next step that is due. */
export type Walk = {
  /** In a halted walk, the state it started from. */
  readonly state: EngineState;
  readonly isHalted: boolean;
  readonly troubles: readonly LoopTrouble[];
  /** Empty in a halted walk, which skips nothing for good. */
  readonly skipped: readonly EventOf<'step_skipped'>['data'][];
  /** The skipped steps whose conditions depend on keys that are not in context; absent where there are none. */
  readonly unset?: readonly UnsetSkip[];
  /** In a halted walk, what led to its trouble. */
  readonly trace: readonly TraceEntry[];
};

/** The values that loops provide inside their bodies, by name. */
export type LoopVariables = JsonObject;
