import { BUNDLE_DEPTH_MAX } from './bundle-document.ts';

/** Part of a file: its first byte and the byte after its last. */
export type ByteSpan = readonly [start: number, end: number];

/**
 * Finds values in JSON without parsing them. `jsonc-parser`'s visitor does not serve here: for 150 MB it takes three
 * times as long and 150 MB more memory (it needs the file as a string), and nested brackets overflow its stack.
 */
export type JsonWalk = {
  readonly bytes: Uint8Array;
  readonly depthMax: number;
  fault: WalkFault | undefined;
};

export type WalkFault = { readonly reason: 'not_json' | 'too_deep'; readonly offset: number };

/** The start of a value, and how many objects and lists are open around it. */
export type JsonPlace = { readonly at: number; readonly depth: number };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The end of a value; `undefined` after a fault. */
export function skipValue(walk: JsonWalk, { at, depth }: JsonPlace): number | undefined {
  const first = walk.bytes[at];
  if (first === QUOTE) return skipString(walk, at);
  return first === OPEN_OBJECT || first === OPEN_LIST ? skipNested(walk, at, depth) : skipScalar(walk, at);
}

/** Visits the members of an object. `onMember` gets the key and the start of the value, and returns its end. */
export function walkObject(
  walk: JsonWalk,
  { at, depth }: JsonPlace,
  onMember: (key: ByteSpan, value: JsonPlace) => number | undefined,
): number | undefined {
  if (exceedsDepth(walk, at, depth)) return undefined;
  return walkMembers(walk, { at, close: CLOSE_OBJECT }, (start) => {
    if (walk.bytes[start] !== QUOTE) return wrong(walk, start);
    const keyEnd = skipString(walk, start);
    if (keyEnd === undefined) return undefined;
    const colon = skipSpace(walk.bytes, keyEnd);
    if (walk.bytes[colon] !== COLON) return wrong(walk, colon);
    return onMember([start, keyEnd], { at: skipSpace(walk.bytes, colon + 1), depth: depth + 1 });
  });
}

export function walkList(
  walk: JsonWalk,
  { at, depth }: JsonPlace,
  onItem: (value: JsonPlace) => number | undefined,
): number | undefined {
  if (exceedsDepth(walk, at, depth)) return undefined;
  return walkMembers(walk, { at, close: CLOSE_LIST }, (start) => onItem({ at: start, depth: depth + 1 }));
}

export function isObjectAt({ bytes }: JsonWalk, at: number): boolean {
  return bytes[at] === OPEN_OBJECT;
}

export function isListAt({ bytes }: JsonWalk, at: number): boolean {
  return bytes[at] === OPEN_LIST;
}

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function walkMembers(
  walk: JsonWalk,
  { at, close }: { readonly at: number; readonly close: number },
  onMember: (at: number) => number | undefined,
): number | undefined {
  const { bytes } = walk;
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === close) return next + 1;
  for (;;) {
    const end = onMember(next);
    if (end === undefined) return undefined;
    const after = skipSpace(bytes, end);
    if (bytes[after] === close) return after + 1;
    if (bytes[after] !== COMMA) return wrong(walk, after);
    next = skipSpace(bytes, after + 1);
  }
}

function skipNested(walk: JsonWalk, start: number, depth: number): number | undefined {
  const { bytes, depthMax } = walk;
  let open = depth;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = skipString(walk, at);
      if (end === undefined) return undefined;
      at = end - 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      open++;
      if (open > depthMax) return wrong(walk, at, 'too_deep');
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      open--;
      if (open === depth) return at + 1;
    }
  }
  return wrong(walk, bytes.length);
}

function skipString(walk: JsonWalk, start: number): number | undefined {
  const { bytes } = walk;
  for (let from = start + 1; ; ) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote < 0) return wrong(walk, start);
    let before = quote;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

function skipScalar(walk: JsonWalk, start: number): number | undefined {
  const { bytes } = walk;
  let at = start;
  while (at < bytes.length && !endsScalar(bytes[at])) at++;
  return isScalar(bytes, [start, at]) ? at : wrong(walk, start);
}

const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** No number in a bundle is longer. */
const SCALAR_BYTES_MAX = 64;

function isScalar(bytes: Uint8Array, [start, end]: ByteSpan): boolean {
  return end - start <= SCALAR_BYTES_MAX && SCALAR.test(String.fromCharCode(...bytes.subarray(start, end)));
}

function endsScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || isSpace(byte);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function exceedsDepth(walk: JsonWalk, at: number, depth: number): boolean {
  if (depth < walk.depthMax) return false;
  wrong(walk, at, 'too_deep');
  return true;
}

function wrong(walk: JsonWalk, offset: number, reason: WalkFault['reason'] = 'not_json'): undefined {
  walk.fault ??= { reason, offset };
  return undefined;
}

/** The bundle, its session, and the list or table around the value. */
const DEPTH_AROUND = 3;

/** Whether a value, as canonical JSON, is nested too deeply for a bundle. */
export function isTooDeep(bytes: Uint8Array): boolean {
  const walk: JsonWalk = { bytes, depthMax: BUNDLE_DEPTH_MAX, fault: undefined };
  skipValue(walk, { at: 0, depth: DEPTH_AROUND });
  return walk.fault?.reason === 'too_deep';
}
