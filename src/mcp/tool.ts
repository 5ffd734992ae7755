import type { Result } from 'neverthrow';
import type * as z from 'zod';
import type { Services } from '../app/services.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';

/** One tool: what a client is told about it, and what it does. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly input: z.ZodObject;
  readonly run: (services: Services, input: unknown) => Promise<Result<GivenReply, ErrorEnvelope>>;
};

/** Ties a tool's handler to the type of its own input. */
export function defineTool<Input extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'run'> & {
    readonly input: Input;
    readonly run: (services: Services, input: z.infer<Input>) => Promise<Result<GivenReply, ErrorEnvelope>>;
  },
): Tool {
  return { ...tool, run: (services, input) => tool.run(services, input as z.infer<Input>) };
}
