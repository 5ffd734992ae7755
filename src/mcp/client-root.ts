import { fileURLToPath } from 'node:url';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Root,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** Where the client says that it works, or the question that it must be asked first. */
export type RootAnswer =
  | { readonly kind: 'known'; readonly path: string | undefined }
  | { readonly kind: 'ask'; readonly question: InputRequiredResult };

/** A client that does not answer must not hold up a call. */
const TIMEOUT_MS = 1_000;
const QUESTION = 'roots';

/** Finds out a client's root when it is first needed, once for a connection, and only where the client can tell. */
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
    if (isAsked || !canTell(envelope)) return { kind: 'known', path: await root };
    return { kind: 'ask', question: inputRequired({ inputRequests: { [QUESTION]: inputRequired.listRoots() } }) };
  };
}

function canTell(envelope: object): boolean {
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

/** The folder that an address names on this machine; Node throws at any that names none. */
export function folderOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  const isHere = url.protocol === 'file:' && url.hostname === '' && !/%2f|%5c/i.test(url.pathname);
  return isHere ? fileURLToPath(url) : undefined;
}
