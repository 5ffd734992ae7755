import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';

/** The name of a source on the command line and of its folder on disk. */
const sourceNameSchema = z.string().regex(/^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$/);

const name = { name: sourceNameSchema };

/** A folder inside a source. */
const innerFolder = z
  .string()
  .min(1)
  .max(512)
  .refine((path) => isInnerPath(path), { error: 'must be a folder inside the source, without . or ..' });

export const gitSourceSchema = z.strictObject({
  kind: z.literal('git'),
  ...name,
  url: z
    .string()
    .min(1)
    .max(2048)
    .refine((url) => isSafeUrl(url), { error: 'must be an https, ssh or file address, or an absolute path' }),
  /** The branch or tag that `source update` follows. */
  ref: z
    .string()
    .min(1)
    .max(256)
    .refine((ref) => isRefName(ref), { error: 'must be the plain name of a branch or tag' })
    .exactOptional(),
  /** The only commit that is used. */
  commit: z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/),
  folder: innerFolder,
});

export const workflowSourceEntrySchema = z.discriminatedUnion('kind', [
  gitSourceSchema,
  z.strictObject({ kind: z.literal('folder'), ...name, path: z.string().min(1).max(4096) }),
  z.strictObject({
    kind: z.literal('package'),
    ...name,
    package: z
      .string()
      .min(1)
      .max(214)
      .refine((name) => PACKAGE.test(name), { error: 'must be the name of an npm package' }),
    /** The search for the package starts in the `node_modules` of this folder and continues in those above it. */
    from: z.string().min(1).max(4096),
  }),
]);
export type WorkflowSourceEntry = z.infer<typeof workflowSourceEntrySchema>;
export type GitSource = Extract<WorkflowSourceEntry, { kind: 'git' }>;
export type PackageSource = Extract<WorkflowSourceEntry, { kind: 'package' }>;

/** The file that lists the sources. */
export const sourceListSchema = z.strictObject({
  v: z.literal(1),
  sources: z
    .array(workflowSourceEntrySchema)
    .max(64)
    .refine(hasDistinctNames, { error: 'must not contain two sources of the same name' }),
});

/** The file in which a repository asks for sources. Folders and packages would be paths of one machine. */
export const projectSourceListSchema = z.strictObject({
  v: z.literal(1),
  sources: z
    .array(gitSourceSchema)
    .max(16)
    .refine(hasDistinctNames, { error: 'must not contain two sources of the same name' }),
});

/** The file with what people accepted: the exact source, and the folder of the repository that asks for it. */
export const acceptedSourcesSchema = z.strictObject({
  v: z.literal(1),
  accepted: z.array(
    z.strictObject({ workspace: z.string().min(1).max(4096), source: gitSourceSchema, at: z.int().min(0) }),
  ),
});
export type AcceptedSource = z.infer<typeof acceptedSourcesSchema>['accepted'][number];

/** Whether a person accepted exactly this source, at this commit, for this folder. */
export function isAcceptedSource(accepted: readonly AcceptedSource[], workspace: string, source: GitSource): boolean {
  return accepted.some((one) => one.workspace === workspace && sourceText(one.source) === sourceText(source));
}

function sourceText({ name, url, ref, commit, folder }: GitSource): string {
  return [name, url, ref ?? '', commit, folder].join('\n');
}

function hasDistinctNames(sources: readonly { readonly name: string }[]): boolean {
  return new Set(sources.map((one) => one.name)).size === sources.length;
}

function isInnerPath(path: string): boolean {
  if (path === '.') return true;
  return path.split('/').every((part) => /^[\w@+ -][\w.@+ -]*$/.test(part) && part !== '.git');
}

/** The address of a source, as a user typed it. */
export type SourceAddress =
  /** A path is made absolute before git sees it: git would read a relative one with a colon as a host. */
  | { readonly kind: 'git'; readonly url: string; readonly isPath?: true }
  | { readonly kind: 'package'; readonly package: string }
  | { readonly kind: 'folder'; readonly path: string };

export type AddressRefusal = {
  readonly code: 'address_refused';
  readonly address: string;
  readonly reason: 'option' | 'protocol' | 'insecure' | 'form' | 'secret';
};

const PACKAGE = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/;
/** `user@host:path`. A host that starts with a dash would be an option to ssh. */
const SCP = /^[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^-:\s][^\s]*$/;
const HOST = /^(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9[][^\s/@]*$/;

/**
 * Recognizes the kind of a source by its address. For git only https, ssh and files are allowed: other transports run
 * programs, and with plain http anyone on the network could change what an agent reads.
 */
export function parseSourceAddress(address: string): Result<SourceAddress, AddressRefusal> {
  const refuse = (reason: AddressRefusal['reason']) =>
    err({ code: 'address_refused' as const, address: withoutPassword(address), reason });
  if (hasControl(address) || address.trim() !== address || address === '') return refuse('form');
  if (address.startsWith('-')) return refuse('option');
  if (address.startsWith('npm:')) {
    const name = address.slice('npm:'.length);
    return PACKAGE.test(name) ? ok({ kind: 'package', package: name }) : refuse('form');
  }
  // `transport::address` runs a program of that name.
  if (/^[A-Za-z0-9+.-]*::/.test(address)) return refuse('protocol');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/.exec(address);
  if (scheme !== null) {
    const reason = schemeRefusal(scheme[1]?.toLowerCase() ?? '', scheme[2] ?? '');
    return reason === undefined ? ok({ kind: 'git', url: address }) : refuse(reason);
  }
  if (SCP.test(address)) return ok({ kind: 'git', url: address });
  // Git would read this as `user@host:path`, and ssh would read a host that starts with a dash as an option.
  if (/^[^/\\]*@(?:[^/\\]*:)?-/.test(address)) return refuse('option');
  if (/^[^/\\]*@[^/\\]*:/.test(address)) return refuse('form');
  return ok(address.endsWith('.git') ? { kind: 'git', url: address, isPath: true } : { kind: 'folder', path: address });
}

/** An address that may be shown: without the password that somebody wrote before its host. */
function withoutPassword(address: string): string {
  return address.replace(/(^|\/\/)([^/\\@:]*):(?!\/\/).*@/, '$1$2:***@');
}

/** Whether git may be given this address from the list of sources, which is a file that can be edited. */
function isSafeUrl(url: string): boolean {
  const isAbsolute = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(url);
  return isAbsolute
    ? !hasControl(url)
    : parseSourceAddress(url).match(
        (address) => address.kind === 'git' && address.isPath !== true,
        () => false,
      );
}

/** Why an address with a scheme is refused; `undefined` if it is allowed. */
function schemeRefusal(scheme: string, rest: string): AddressRefusal['reason'] | undefined {
  const [authority = ''] = rest.split('/');
  if (scheme === 'file') return authority === '' && rest.length > 1 ? undefined : 'form';
  if (scheme === 'http' || scheme === 'git') return 'insecure';
  if (scheme !== 'https' && scheme !== 'ssh') return 'protocol';
  // A password would be stored in a file and shown in lists. Git has better places for it.
  if (/^[^@]*:[^@]*@/.test(authority)) return 'secret';
  if (/^(?:[^@]*@)?-/.test(authority)) return 'option';
  return HOST.test(authority) ? undefined : 'form';
}

function hasControl(text: string): boolean {
  return [...text].some((char) => char < ' ' || char === '\u007f');
}

/** Whether a text is a branch or tag that git allows, and not an option or an expression. */
export function isRefName(ref: string): boolean {
  return /^[A-Za-z0-9_][\w./+-]*$/.test(ref) && !ref.includes('..') && !ref.endsWith('.lock') && !ref.endsWith('/');
}

/** The default name of a source: the last word of its address. */
export function suggestSourceName(address: string): string {
  const last =
    address
      .replace(/\/+$/, '')
      .replace(/\.git$/, '')
      .split(/[/:]/)
      .at(-1) ?? '';
  const name = last
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
    .slice(0, 40);
  return name === '' ? 'source' : name;
}
