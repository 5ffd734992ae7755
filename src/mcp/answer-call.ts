import type { CallToolResult, Tool as PublishedTool } from '@modelcontextprotocol/server';
import type { Services } from '../app/services.ts';
import { isObject, type JsonObject, type JsonValue } from '../core/json/json-value.ts';
import { ERROR_TEXT_BYTES_MAX } from '../core/log/budgets.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { callText } from '../core/prompt/reply/footer.ts';
import { truncate } from '../core/text/utf8.ts';
import { NEXT_CALL, quoteReservedLines } from '../core/text/visible-text.ts';
import { TOKEN_SLOTS } from '../core/token/token.ts';
import { inputSchema } from './arguments/argument.ts';
import { readArguments } from './arguments/read-arguments.ts';
import { defaultWorkspace, folderOf, type WorkspaceHints } from './client-root.ts';
import { explain, type Refusal } from './explain/explain.ts';
import type { RecentReplies } from './explain/recent-replies.ts';
import { situate } from './explain/situation.ts';
import type { Tool } from './tool.ts';
import { checkpointWorkflowTool } from './tools/checkpoint-workflow-tool.ts';
import { continueWorkflowTool } from './tools/continue-workflow-tool.ts';
import { inspectWorkflowTool } from './tools/inspect-workflow-tool.ts';
import { listWorkflowsTool } from './tools/list-workflows-tool.ts';
import { resumeSessionTool } from './tools/resume-session-tool.ts';
import { startSessionTool, startWorkflowTool } from './tools/start-workflow-tool.ts';

export type CallServices = {
  readonly services: Services;
  readonly recent: RecentReplies;
  /** Where the call comes from, unless its arguments say so. */
  readonly place: Omit<WorkspaceHints, 'argument'>;
  /** Whether the caller may only look. */
  readonly isReader?: boolean;
} & ToolSwitches;

/** Optional tools. */
export type ToolSwitches = { readonly isSessionStartOn?: boolean };

export type ToolCall = { readonly name: string; readonly arguments: JsonObject };

/** The tools as clients see them. */
export function publishedTools(switches: ToolSwitches = {}): PublishedTool[] {
  return toolsWith(switches).map(({ name, title, description, annotations, arguments: taken }) => ({
    name,
    title,
    description,
    inputSchema: inputSchema(taken, switches.isSessionStartOn),
    annotations,
  }));
}

/** Whether the call depends on the client's workspace root. */
export function needsRoot({ name, arguments: sent }: ToolCall): boolean {
  const tool = toolNamed(ALL_TOOLS, name);
  return tool !== undefined && sent['workspacePath'] === undefined && (tool.isPlaced?.(sent) ?? true);
}

/** Answers a call; a refusal is an answer too. */
export async function answerCall(context: CallServices, { name, arguments: sent }: ToolCall): Promise<CallToolResult> {
  const tools = toolsWith(context);
  const tool = toolNamed(tools, name);
  if (tool === undefined) {
    return refused(context, { tool: name, sent }, { code: 'tool_unknown', tools: tools.map((one) => one.name) });
  }
  const read = readArguments(tool.arguments, sent, context.isSessionStartOn);
  if (read.isErr())
    return refused(context, { tool: name, sent: { ...tokensIn(sent), ...read.error.read } }, read.error);
  if (context.isReader === true && !(tool.annotations.readOnlyHint || tool.isLook?.(read.value) === true)) {
    return refused(context, { tool: name, sent: read.value }, { code: 'role_too_small' });
  }
  const { workspacePath } = read.value;
  const argument = typeof workspacePath === 'string' ? (folderOf(workspacePath) ?? workspacePath) : undefined;
  const workspace = defaultWorkspace({ ...context.place, argument });
  const reply = await tool.run(context.services, read.value, { workspace });
  if (reply.isErr()) return refused(context, { tool: name, sent: read.value }, reply.error);
  context.recent.remember(reply.value.structured);
  return given(reply.value);
}

/** The answer to a call that failed because of a bug. */
export function faultAnswer({ name, arguments: sent }: ToolCall): CallToolResult {
  return errorResult(explain({ code: 'our_fault' }, { tool: name, sent, tokens: [], recent: [] }));
}

async function refused(
  { services, recent }: CallServices,
  call: { readonly tool: string; readonly sent: JsonObject },
  refusal: Refusal,
): Promise<CallToolResult> {
  return errorResult(explain(refusal, await situate(services, call, recent)));
}

/** A token that the tool does not take may still identify the run. */
function tokensIn(sent: JsonObject): JsonObject {
  const isToken = ([name, value]: readonly [string, JsonValue]) =>
    Object.hasOwn(TOKEN_SLOTS, name) && typeof value === 'string';
  return Object.fromEntries(Object.entries(sent).filter(isToken));
}

function given({ text, furtherTexts = [], structured }: GivenReply): CallToolResult {
  const content = [text, ...furtherTexts].map((one) => ({ type: 'text' as const, text: one }));
  return { content, structuredContent: structured };
}

function toolsWith({ isSessionStartOn = false }: ToolSwitches): readonly Tool[] {
  return isSessionStartOn ? ALL_TOOLS : TOOLS;
}

function toolNamed(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}

/** An error as a client sees it, once for programs and once as text that ends in what to do next. */
export function errorResult(error: ErrorEnvelope): CallToolResult {
  const said = { ...error, message: fitted(error.message), suggestion: fitted(error.suggestion) };
  const words = quoteReservedLines(`${said.code}${runOf(error)}: ${said.message}\n${said.suggestion}`);
  const text = [words, ...callLines(error)].join('\n');
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { kind: 'error', error: said } };
}

/** An error names what was sent, and that may be of any length and of any characters. */
function fitted(text: string): string {
  return truncate(text.toWellFormed(), ERROR_TEXT_BYTES_MAX);
}

function runOf({ details }: ErrorEnvelope): string {
  const run = details?.['run'];
  return isObject(run) ? ` (run ${run['tag']}, ${run['workflowId']})` : '';
}

function callLines({ nextCall }: ErrorEnvelope): readonly string[] {
  return nextCall === undefined ? [] : [`${NEXT_CALL} ${callText(nextCall).join('')}`];
}

/** The tools of every server, in the order a newcomer needs them. */
export const TOOLS: readonly Tool[] = [
  listWorkflowsTool,
  inspectWorkflowTool,
  startWorkflowTool,
  continueWorkflowTool,
  checkpointWorkflowTool,
  resumeSessionTool,
];

/** With those that somebody has to switch on. */
export const ALL_TOOLS: readonly Tool[] = [...TOOLS, startSessionTool];
