import type { Result } from 'neverthrow';
import type { Services } from '../app/services.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import type { Arguments, ArgumentValues } from './arguments/argument.ts';
import type { Refusal } from './explain/explain.ts';

/** Where a call comes from. */
export type Caller = {
  /** The folder the work is about: the argument, or else the client's root or the working directory. */
  readonly workspace: string | undefined;
};

type ToolFacts = {
  /** Whether a call depends on the client's workspace; by default it does. */
  readonly isPlaced?: (sent: JsonObject) => boolean;
  /** Whether a call of a tool that can record something only looks. */
  readonly isLook?: (sent: JsonObject) => boolean;
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

/** One tool: what clients see of it, and what it does. */
export type Tool = ToolFacts & {
  readonly arguments: Arguments;
  readonly run: (services: Services, sent: JsonObject, caller: Caller) => Answer;
};

/** Gives a tool's handler the type of its own arguments, which `readArguments` has checked. */
export function defineTool<const All extends Arguments>(
  tool: ToolFacts & {
    readonly arguments: All;
    readonly run: (services: Services, sent: ArgumentValues<All>, caller: Caller) => Answer;
  },
): Tool {
  return { ...tool, run: tool.run as Tool['run'] };
}
