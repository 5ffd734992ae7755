import { digestHex, ownJsonBytes, type Sha256 } from '../core/json/canonical-json.ts';
import { isObject } from '../core/json/json-value.ts';

/** Where the bridge names the workflow files of the caller's project. */
export const WORKFLOWS_META_KEY = 'dev.workrail/workflows';

/** The calls that look for workflows. A run that was started has its workflow with it. */
export const WORKFLOW_TOOLS: readonly string[] = ['list_workflows', 'inspect_workflow', 'start_workflow'];

/** What a server answers that does not know all files. The bridge then sends the call again with their texts. */
export const FILES_MISSING_CODE = -32_020;

/** A file of a project: its text travels only to a server that does not know its digest. */
export type NamedFile = {
  /** Its path in the project. */
  readonly ref: string;
  readonly digest: string;
  readonly text?: string;
};

/** A file with its text. */
export type TextFile = NamedFile & { readonly text: string };

export type FileTexts = {
  /** The text of a digest, in a space. */
  get(key: string): string | undefined;
  set(key: string, text: string): void;
};

export type DescribedFiles =
  | { readonly kind: 'files'; readonly files: readonly TextFile[] }
  | { readonly kind: 'missing'; readonly digests: readonly string[] };

/** More than any project has. */
const FILES_MAX = 512;
const PATH = /^[^\p{C}\\]{1,300}$/u;
/** The folders that a project has workflows in, and its bindings. */
const PLACES = /^(?:(?:\.workrail\/)?workflows\/.+\.json|\.workrail\/bindings\.json)$/;

/**
 * The files that a call brings along; `undefined` if it brings none. A text is remembered by its own digest, whatever the
 * call says, and only for the space that it was sent to.
 */
export function describedFiles(
  meta: unknown,
  { space, texts, sha256 }: { readonly space: string; readonly texts: FileTexts; readonly sha256: Sha256 },
): DescribedFiles | undefined {
  const said = isObject(meta) ? meta[WORKFLOWS_META_KEY] : undefined;
  if (!Array.isArray(said) || said.length === 0) return undefined;
  const keyOf = (digest: string) => `${space} ${digest}`;
  const files: TextFile[] = [];
  const missing: string[] = [];
  for (const one of said.slice(0, FILES_MAX).map(namedFile)) {
    if (one === undefined) continue;
    const digest = one.text === undefined ? one.digest : bareDigest(one.text, sha256);
    const text = one.text ?? texts.get(keyOf(digest));
    if (text === undefined) missing.push(digest);
    else {
      texts.set(keyOf(digest), text);
      files.push({ ref: one.ref, digest, text });
    }
  }
  return missing.length > 0 ? { kind: 'missing', digests: missing } : { kind: 'files', files };
}

function namedFile(value: unknown): NamedFile | undefined {
  const { ref, digest, text } = isObject(value) ? value : {};
  if (typeof ref !== 'string' || typeof digest !== 'string') return undefined;
  const isSafe = PATH.test(ref) && PLACES.test(ref) && !ref.split('/').includes('..');
  if (!isSafe || (text !== undefined && (typeof text !== 'string' || !text.isWellFormed()))) return undefined;
  return text === undefined ? { ref, digest } : { ref, digest, text };
}

export function bareDigest(text: string, sha256: Sha256): string {
  return digestHex(sha256(ownJsonBytes(text)));
}
