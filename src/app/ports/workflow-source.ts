import type { WorkflowSourceKind } from '../../core/log/events/run-started.ts';

/** A workflow file as an author left it. */
export type WorkflowFile = {
  readonly kind: WorkflowSourceKind;
  /** Names the file within its source; the same on every machine. */
  readonly ref: string;
  /** The parsed JSON; `undefined` where it is none. */
  readonly content: unknown;
};

/** Where workflow files come from. */
export type WorkflowSource = {
  files(): Promise<readonly WorkflowFile[]>;
};
