import type { Result } from 'neverthrow';
import type { Services } from '../app/services.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import type { Arguments, ArgumentValues } from './arguments/argument.ts';
import type { Refusal } from './explain/explain.ts';

/** Where a call comes from, as far as its arguments do not say. */
export type Caller = {
  /** The folder that the work is about: the argument, else what the client or the process stands in. */
  readonly workspace: string | undefined;
};

type ToolFacts = {
  /** Whether it matters for a call where its client works; it does unless told otherwise. */
  readonly isPlaced?: (sent: JsonObject) => boolean;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
};

type Answer = Promise<Result<GivenReply, Refusal>>;

/** One tool: what a client is told about it, and what it does. */
export type Tool = ToolFacts & {
  readonly arguments: Arguments;
  readonly run: (services: Services, sent: JsonObject, caller: Caller) => Answer;
};

/** Ties a tool's handler to the type of its own arguments, which `readArguments` has checked. */
export function defineTool<const All extends Arguments>(
  tool: ToolFacts & {
    readonly arguments: All;
    readonly run: (services: Services, sent: ArgumentValues<All>, caller: Caller) => Answer;
  },
): Tool {
  return { ...tool, run: (services, sent, caller) => tool.run(services, sent as ArgumentValues<All>, caller) };
}
