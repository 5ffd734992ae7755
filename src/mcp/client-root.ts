import { fileURLToPath } from 'node:url';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Root,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { CLIENT_NAME_BYTES_MAX } from '../core/log/budgets.ts';
import type { By } from '../core/log/events/event-envelope.ts';
import { clip } from '../core/text/utf8.ts';

/** How a call reached us: the client names itself when it connects or, in newer versions of the protocol, in each call. */
export function calledBy(server: Server, envelope: object | undefined): By {
  const info: unknown =
    envelope === undefined
      ? server.getClientVersion()
      : (envelope as { readonly [CLIENT_INFO_META_KEY]?: unknown })[CLIENT_INFO_META_KEY];
  const { name, version } = (info ?? {}) as { readonly name?: unknown; readonly version?: unknown };
  const client = { name: named(name), version: named(version) };
  return client.name === '' ? { via: 'mcp' } : { via: 'mcp', client };
}

const ELLIPSIS_BYTES = 3;

/** The client can send any text. */
function named(text: unknown): string {
  return typeof text === 'string' ? clip(text.toWellFormed().trim(), CLIENT_NAME_BYTES_MAX - ELLIPSIS_BYTES) : '';
}

/** The client's workspace root, or the question that the client must answer first. */
export type RootAnswer =
  | { readonly kind: 'known'; readonly path: string | undefined }
  | { readonly kind: 'ask'; readonly question: InputRequiredResult };

/** A client that does not answer must not delay a call. */
const TIMEOUT_MS = 1_000;
const QUESTION = 'roots';

/** Asks for the client's root when it is first needed, once per connection, and only if the client supports it. */
export function clientRoot(server: Server): (context: ServerContext) => Promise<RootAnswer> {
  let root: Promise<string | undefined> | undefined;
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    root = undefined;
  });
  return async ({ mcpReq: { envelope, inputResponses } }) => {
    if (envelope === undefined) {
      root ??= server.getClientCapabilities()?.roots === undefined ? Promise.resolve(undefined) : askedRoot(server);
      return { kind: 'known', path: await root };
    }
    const answer = inputResponse(inputResponses, QUESTION);
    if (answer.kind === 'roots') root = Promise.resolve(firstFolder(answer.roots));
    const isAsked = root !== undefined || inputResponses !== undefined;
    if (isAsked || !supportsRoots(envelope)) return { kind: 'known', path: await root };
    return { kind: 'ask', question: inputRequired({ inputRequests: { [QUESTION]: inputRequired.listRoots() } }) };
  };
}

function supportsRoots(envelope: object): boolean {
  const capabilities = (envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities })[
    CLIENT_CAPABILITIES_META_KEY
  ];
  return capabilities?.roots !== undefined;
}

function askedRoot(server: Server): Promise<string | undefined> {
  return server.listRoots(undefined, { timeout: TIMEOUT_MS }).then(
    ({ roots }) => firstFolder(roots),
    () => undefined,
  );
}

function firstFolder(roots: readonly Root[]): string | undefined {
  return roots.map(({ uri }) => folderOf(uri)).find((path) => path !== undefined);
}

/** The local folder of a file URI; Node throws for other URIs. */
export function folderOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  const isHere = url.protocol === 'file:' && url.hostname === '' && !/%2f|%5c/i.test(url.pathname);
  return isHere ? fileURLToPath(url) : undefined;
}

export type WorkspaceHints = {
  /** The workspacePath of the call. */
  readonly argument?: string | undefined;
  /** The client's workspace root. */
  readonly root?: string | undefined;
  readonly workingDir: string;
  readonly homeDir: string;
};

/**
 * The folder that the work is about. A server that was not started in a project has the home folder or the root of the disk
 * as its working directory, which is not a workspace.
 */
export function defaultWorkspace({ argument, root, workingDir, homeDir }: WorkspaceHints): string | undefined {
  const given = [argument, root].find((path) => path !== undefined && path.trim() !== '');
  if (given !== undefined) return given;
  const dir = bare(workingDir);
  return dir === '' || dir === bare(homeDir) ? undefined : workingDir;
}

/** Without trailing slashes; empty for the root of a disk. */
function bare(path: string): string {
  return path.replace(/[\\/]+$/, '').replace(/^[A-Za-z]:$/, '');
}
