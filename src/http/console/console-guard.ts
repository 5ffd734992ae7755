import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../app/ports/system-services.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { PAGE_KEY_HEADER } from '../../core/wire/console-paths.ts';
import { isLocalRequest } from '../local-requests.ts';

/** The secrets of one launch of the console. They end with the process. */
export type ConsoleLaunch = {
  /** A code for the address of the page. It works once, and for a minute. */
  readonly newCode: () => string;
  /** What a page gets for a code: a cookie, and a key that other ports of this machine cannot learn. */
  readonly redeem: (code: string) => { readonly cookie: string; readonly key: string } | undefined;
  readonly isSignedIn: (sent: { readonly cookie: string; readonly key: string | undefined }) => boolean;
};

const CODE_LIFE_MS = 60_000;
const SECRET_BYTES = 32;

export function newLaunch(clock: Clock): ConsoleLaunch {
  const [cookie, key] = [secret(), secret()];
  const codes = new Map<string, number>();
  return {
    newCode: () => {
      const code = secret();
      codes.set(digest(code).toString('hex'), clock.nowMs() + CODE_LIFE_MS);
      return code;
    },
    redeem: (code) => {
      const known = digest(code).toString('hex');
      const until = codes.get(known);
      codes.delete(known);
      return until !== undefined && clock.nowMs() <= until ? { cookie, key } : undefined;
    },
    isSignedIn: (sent) => isEqual(sent.cookie, cookie) && isEqual(sent.key, key),
  };
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Digests have one length, so the comparison takes the same time for every guess. */
function isEqual(sent: string | undefined, wanted: string): boolean {
  return timingSafeEqual(digest(sent ?? ''), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Cookies do not know ports, so the port is part of the name: two consoles do not overwrite each other's. */
export function cookieName(port: number): string {
  return `wr_${port}`;
}

export type GuardedRequest = {
  readonly method: string;
  readonly path: string;
  readonly header: (name: string) => string | undefined;
};

export type GuardRefusal = { readonly status: 401 | 403 | 415 | 421 | 429 | 503; readonly error: ErrorEnvelope };

export type Guarded = {
  readonly port: number;
  readonly launch: ConsoleLaunch;
  /** A page that signs in has no cookie and no key yet. */
  readonly signInPath: string;
};

/**
 * Why a request is refused; `undefined` if it may go on. The files of the page are public: they hold no secret. Everything
 * below `/api` needs the cookie and the key, reads too, because browsers send a cookie of 127.0.0.1 to every port.
 */
export function guardRefusal(request: GuardedRequest, guarded: Guarded): GuardRefusal | undefined {
  const { header, method, path } = request;
  const { port, launch, signInPath } = guarded;
  const isApi = path.startsWith('/api/');
  const fetchSite = header('sec-fetch-site');
  // A link or a file that leads to the page is a request of another site.
  const site = isApi ? fetchSite : undefined;
  if (!isLocalRequest({ host: header('host'), origin: undefined }, port)) return MISDIRECTED;
  if (!isApi) return method === 'GET' || method === 'HEAD' ? undefined : FOREIGN;
  if (!isLocalRequest({ host: header('host'), origin: header('origin'), fetchSite: site }, port)) return FOREIGN;
  if (method !== 'GET' && !isJsonType(header('content-type'))) return NOT_JSON;
  if (path === signInPath) return undefined;
  const key = header(PAGE_KEY_HEADER);
  // A server on another port of this machine can set a cookie of the same name.
  const cookies = cookiesIn(header('cookie'), cookieName(port));
  return cookies.some((cookie) => launch.isSignedIn({ cookie, key })) ? undefined : NOT_SIGNED_IN;
}

export function isJsonType(contentType: string | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

export function cookiesIn(cookies: string | undefined, name: string): readonly string[] {
  const pairs = (cookies?.split(';') ?? []).map((pair) => pair.trim().split('=', 2));
  return pairs.flatMap(([key, value = '']) => (key === name ? [value] : []));
}

export function guardProblem(status: GuardRefusal['status'], message: string, suggestion: string): GuardRefusal {
  return { status, error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } } };
}

const OPEN_AGAIN = 'Run "workrail console" and open the link that it prints.';

const MISDIRECTED = guardProblem(421, 'This address is not the address of this server.', OPEN_AGAIN);
const FOREIGN = guardProblem(403, 'Only the page of this console may make this request.', OPEN_AGAIN);
const NOT_JSON = guardProblem(415, 'The body must be JSON.', 'Send it with "Content-Type: application/json".');
export const NOT_SIGNED_IN = guardProblem(
  401,
  'This page is not signed in, or the console was started again.',
  OPEN_AGAIN,
);

/** What every response tells the browser. The page may load its own files and nothing else. */
export function responseHeaders(styleNonce: string): { readonly [name: string]: string } {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${styleNonce}'`,
      "img-src 'self' data:",
      "connect-src 'self'",
      "worker-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}
