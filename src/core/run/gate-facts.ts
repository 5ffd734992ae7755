import { assert } from '../assert.ts';
import { canonicalBytes, canonicalLength, type Sha256, type Sha256Digest } from '../json/canonical-json.ts';
import { defined, isList, isObject, type JsonObject, type JsonValue, quote } from '../json/json-value.ts';
import { ASSURANCES, type Assurance } from '../log/autonomy.ts';
import type { AttestationChannel } from '../log/events/attestation-events.ts';
import {
  type LoopPath,
  type NodeId,
  plainDigestSchema,
  type RunId,
  type SnapshotRef,
  type StepId,
  type WorkflowHash,
} from '../log/ids.ts';
import { clip } from '../text/utf8.ts';
import { visibleLine } from '../text/visible-text.ts';
import type { Attestation } from '../views/attestations.ts';
import { GIT_SILENT, type UnseenFiles, unseenCause, unseenFix, unseenIn, unseenSentence } from './unseen-files.ts';

/** The files of the workspace that an approval is bound to, or why git cannot list them. */
export type BoundWorkspace = UnseenFiles | SeenFiles;

export type SeenFiles = {
  readonly headSha: string;
  readonly treeDigest: string;
  /** What differs from the last commit; the digest covers it. */
  readonly changed?: readonly ChangedFile[];
  /** Another machine described these files, and only the block can repeat the description. */
  readonly isDescribed?: true;
};

/** Whether the files are known. */
export function isSeen(workspace: BoundWorkspace | undefined): workspace is SeenFiles {
  return workspace !== undefined && !('unseen' in workspace);
}

/** A file that differs from the last commit. */
export type ChangedFile = {
  /** Two letters, as `git status --short` shows them. */
  readonly state: string;
  readonly path: string;
  /** The id of its content; absent where it was deleted. */
  readonly blob?: string | undefined;
};

/** Everything about a gate that is not in the workflow or the call. */
export type GateFacts = {
  /** The lowest assurance that counts here, whatever the workflow asks for. */
  readonly minimum: Assurance;
  /** What the gate needs where only a signature counts; `attestations` holds no other answers then. */
  readonly signing?: SigningFacts | undefined;
  /** The channels whose answers count. */
  readonly accept: readonly AttestationChannel[];
  /** Where people answer, if that is a page on another machine. */
  readonly page?: string | undefined;
  /** What people said about the attempts at this step, oldest first. */
  readonly attestations: readonly Attestation['data'][];
  /** Context keys whose value a person gave. */
  readonly personKeys: readonly string[];
  /** The newest answer, unless it is a rejection: whether it is about this draft is not known yet. */
  readonly approved?: ApprovedDraft | undefined;
  /** What the digest names besides what was sent. */
  readonly subject: GateSubject;
  readonly sha256: Sha256;
};

/** What is known where only the signature of an approver counts. */
export type SigningFacts = {
  /** The people whose keys count, by the names that the list gives them. */
  readonly approvers: readonly string[];
  /** How many of them must sign. */
  readonly needed: 1 | 2;
  /** Who signed an answer; `undefined` if nobody did whose signature counts. */
  readonly signer: (answer: Attestation['data']) => Signer | undefined;
  /** Somebody answered without a signature that counts. */
  readonly hasUnsigned: boolean;
  /** Why keys of a list do not count, in sentences. */
  readonly problems: readonly string[];
};

export type Signer = { readonly name: string; readonly fingerprint: string };

/** The different people who signed the same answer about a draft, up to the newest; a rejection ends what was before it. */
export function signersOf(
  { attestations, signing }: Pick<GateFacts, 'attestations' | 'signing'>,
  digest: string,
): readonly Signer[] {
  const about = attestations.filter(({ subject }) => subject.kind === 'attempt' && subject.digest === digest);
  const newest = about.at(-1)?.statement;
  if (newest === undefined || newest.kind === 'rejected') return [];
  const since = about.slice(about.findLastIndex(({ statement }) => statement.kind === 'rejected') + 1);
  const signers = since
    .filter(({ statement }) => saidAs(statement) === saidAs(newest))
    .flatMap((answer) => signing?.signer(answer) ?? []);
  // Two keys of one person are one person.
  return signers.filter(({ name, fingerprint }, i) =>
    signers.slice(0, i).every((before) => before.name !== name && before.fingerprint !== fingerprint),
  );
}

function saidAs(statement: Attestation['data']['statement']): string {
  return statement.kind === 'answered' ? quote([statement.kind, statement.value ?? null]) : statement.kind;
}

type GateSubject = {
  readonly workflowHash: WorkflowHash;
  readonly runId: RunId;
  /** The step's own node, above all blocked attempts. */
  readonly nodeId: NodeId;
  readonly stepId: StepId;
  readonly loopPath: LoopPath;
  readonly snapshotRef: SnapshotRef;
  /** The context at that node. */
  readonly contextBefore: JsonObject;
  readonly workspace?: BoundWorkspace | undefined;
};

/** A draft that a person approved or answered, with what is known of its parts. */
export type ApprovedDraft = {
  readonly digest: string;
  readonly statement: 'approved' | 'answered';
  readonly parts: JsonObject | undefined;
};

/** The higher of two assurances. */
export function strongestAssurance(a: Assurance, b: Assurance): Assurance {
  return ASSURANCES.indexOf(a) >= ASSURANCES.indexOf(b) ? a : b;
}

/** Why nobody can sign now, as sentences: a signature must cover the files. */
export function unsignableWords({ signing, subject: { workspace } }: Pick<GateFacts, 'signing' | 'subject'>): string {
  if (signing === undefined || workspace === undefined || isSeen(workspace)) return '';
  return ` Nothing can be signed yet: ${unseenCause(workspace)}. ${unseenFix(workspace)} Then send the next call to get a new draft.`;
}

/** What exactly is approved, as a digest: another draft, another place or another file tree has another one. */
export function attemptDigest(
  { subject, sha256 }: Pick<GateFacts, 'subject' | 'sha256'>,
  { handedIn, context, question, gateKey }: GatedDraft,
): Sha256Digest {
  const { contextBefore, loopPath, workspace, ...names } = subject;
  const artifacts = handedIn.artifacts.map(({ ref }) => ref.sha256).toSorted();
  const bytes = canonicalBytes({
    v: 1,
    ...names,
    loopPath: loopPath.map(({ loopId, iteration }) => ({ loopId, iteration })),
    notes: handedIn.notesMarkdown ?? null,
    artifacts: [...new Set(artifacts)],
    contextDelta: contextChange(contextBefore, context, gateKey),
    question,
    ...(workspace === undefined ? {} : { workspace: workspaceNames(workspace) }),
  });
  assert(bytes.isOk(), 'what was sent is JSON');
  return sha256(bytes.value);
}

/** What a person is asked about. */
type GatedDraft = {
  readonly handedIn: {
    readonly notesMarkdown: string | undefined;
    readonly artifacts: readonly { readonly ref: { readonly sha256: string } }[];
  };
  readonly context: JsonObject;
  readonly question: string;
  /** The key that the answer itself goes into. */
  readonly gateKey?: string | undefined;
};

function workspaceNames(workspace: BoundWorkspace): JsonValue {
  // Whatever the cause is, the draft is the same one.
  if (!isSeen(workspace)) return 'unknown';
  const { headSha, treeDigest } = workspace;
  return { headSha, treeDigest };
}

/** What a draft consists of, part by part, so that a later draft can be compared with it. It is kept with the block. */
export function draftParts(
  { subject: { contextBefore, workspace }, sha256 }: Pick<GateFacts, 'subject' | 'sha256'>,
  { handedIn, context, gateKey }: GatedDraft,
): JsonObject {
  const short = (value: JsonValue): string => {
    const bytes = canonicalBytes(value);
    assert(bytes.isOk(), 'what was sent is JSON');
    return sha256(bytes.value).slice(SHORT_FROM, SHORT_FROM + SHORT_LENGTH);
  };
  const parts = {
    notes: short(handedIn.notesMarkdown ?? null),
    artifacts: short([...new Set(handedIn.artifacts.map(({ ref }) => ref.sha256))].toSorted()),
    context: short(contextChange(contextBefore, context, gateKey)),
  };
  if (workspace === undefined) return parts;
  const tree = short(workspaceNames(workspace));
  if (!isSeen(workspace)) return { ...parts, tree, treeUnknown: true, unseen: workspace };
  const files = workspace.changed?.map(fileEntry);
  const isShort = files !== undefined && canonicalLength(files) <= FILES_BYTES_MAX;
  return {
    ...parts,
    tree,
    ...(isShort ? { files } : {}),
    ...(workspace.isDescribed ? { described: workspaceNames(workspace) } : {}),
  };
}

/** The files that a block is bound to, where another machine described them. Blocks may come from a bundle and hold anything. */
export function describedAt(details: JsonObject | undefined): BoundWorkspace | undefined {
  const draft = details?.['draft'];
  if (draft === undefined || !isObject(draft)) return undefined;
  const { described, files } = draft;
  if (draft['treeUnknown'] === true) return unseenAt(draft);
  if (described === undefined || !isObject(described)) return undefined;
  const { headSha, treeDigest } = described;
  // The answer will name them, and a block may come from a bundle.
  const isNamed =
    typeof headSha === 'string' && COMMIT.test(headSha) && plainDigestSchema.safeParse(treeDigest).success;
  if (!isNamed || typeof treeDigest !== 'string') return undefined;
  const entries = files !== undefined && isList(files) ? files.filter((entry) => typeof entry === 'string') : [];
  const changed = entries.map((entry) => ({ state: entry.slice(0, 2), path: entryPath(entry) }));
  return { headSha, treeDigest, changed, isDescribed: true };
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Why a draft is not bound to files that it should be bound to. Older drafts do not say it. */
function unseenAt(draft: JsonObject): UnseenFiles {
  return unseenIn(draft['unseen']) ?? GIT_SILENT;
}

/** Whether the draft of a block is bound to files that were known. Blocks may come from a bundle and hold anything. */
export function isBoundToFiles(details: JsonObject | undefined): boolean {
  const draft = details?.['draft'];
  return draft !== undefined && isObject(draft) && draft['tree'] !== undefined && draft['treeUnknown'] !== true;
}

const SHORT_FROM = 'sha256:'.length;
const SHORT_LENGTH = 8;
/** A block has room for 4 KiB of details. */
const FILES_BYTES_MAX = 2_000;
const FILES_NAMED_MAX = 5;
const FILE_NAMES_BYTES_MAX = 160;

/** State and content in a fixed width, then the path. */
function fileEntry({ state, path, blob = '' }: ChangedFile): string {
  return `${state}${blob.slice(0, SHORT_LENGTH).padEnd(SHORT_LENGTH, '-')} ${path}`;
}

function entryPath(entry: string): string {
  return entry.slice(2 + SHORT_LENGTH + 1);
}

/** An approval that counts no longer, and what has changed since, in words. */
export type VoidedApproval = {
  readonly code: string;
  readonly statement: 'approved' | 'answered';
  readonly changes: readonly string[];
  /** Nothing shows that anything changed. The only problem is that git cannot list the files. */
  readonly unseen?: UnseenFiles;
};

/** Why an approval of another draft does not count for this one. */
export function voidedBy(approved: ApprovedDraft, now: JsonObject): VoidedApproval {
  const before = approved.parts;
  const code = draftCode(approved.digest as Sha256Digest);
  // What was approved is the draft of that block, so if its parts are the same, only the files can differ.
  const texts = (['notes', 'artifacts', 'context'] as const).filter(
    (part) => before !== undefined && before[part] !== now[part],
  );
  const isTree = before?.['tree'] !== now['tree'] || texts.length === 0;
  const { statement } = approved;
  if (isTree && now['treeUnknown'] === true) {
    // Nothing shows that files changed. If something else did, the words name only that.
    const unseen = unseenAt(now);
    return texts.length > 0
      ? { code, statement, changes: texts }
      : { code, statement, changes: [unseenCause(unseen)], unseen };
  }
  const files = () => (before?.['treeUnknown'] === true ? NOT_BOUND : fileWords(before?.['files'], now['files']));
  return { code, statement, changes: [...(isTree ? [files()] : []), ...texts] };
}

const NOT_BOUND = 'git can list the files, and could not when the draft was shown';

/** The files that differ between two states of the work tree, by name as far as they are known. */
function fileWords(before: JsonValue | undefined, now: JsonValue | undefined): string {
  if (!(isTexts(before) && isTexts(now))) return 'files of the workspace';
  const differing = [...before.filter((one) => !now.includes(one)), ...now.filter((one) => !before.includes(one))];
  const names = [...new Set(differing.map(entryPath))].map((path) => visibleLine(path));
  if (names.length === 0) return 'files of the workspace';
  const more = names.length - FILES_NAMED_MAX;
  const listed = clip(names.slice(0, FILES_NAMED_MAX).join(', '), FILE_NAMES_BYTES_MAX);
  return `files (${listed}${more > 0 ? ` and ${more} more` : ''})`;
}

function isTexts(value: JsonValue | undefined): value is readonly string[] {
  return value !== undefined && isList(value) && value.every((one) => typeof one === 'string');
}

/** The voided approval that a block shows. Blocks may come from a bundle and hold anything. */
export function voidedOf(details: JsonObject | undefined): VoidedApproval | undefined {
  const voided = details?.['voided'];
  if (voided === undefined || !isObject(voided)) return undefined;
  const { code, statement, changes, unseen } = voided as { readonly [name: string]: JsonValue | undefined };
  const isKnown = statement === 'approved' || statement === 'answered';
  if (typeof code !== 'string' || !isKnown || !isTexts(changes)) return undefined;
  // Older blocks have only the words.
  const isSilent = changes.length === 1 && changes[0] === unseenCause(GIT_SILENT);
  return { code, statement, changes, ...defined({ unseen: unseenIn(unseen) ?? (isSilent ? GIT_SILENT : undefined) }) };
}

export function voidedWords({ code, statement, changes, unseen }: VoidedApproval): string {
  const what = statement === 'approved' ? 'approval' : 'answer';
  if (unseen !== undefined) {
    return `${unseenSentence(unseen)}, so WorkRail does not know whether files changed since draft ${code} was ${statement}. The ${what} is kept.`;
  }
  return `Draft ${code} was ${statement}, but that ${what} does not cover what changed since: ${changes.join(', ')}.`;
}

/** What this attempt would leave changed, over the whole chain of blocked attempts. */
export function contextChange(before: JsonObject, after: JsonObject, except: string | undefined): JsonObject {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => key !== except);
  const text = (value: JsonValue | undefined) => quote(value ?? null);
  return Object.fromEntries(
    keys.filter((key) => text(before[key]) !== text(after[key])).map((key) => [key, after[key] ?? null]),
  );
}

/** Four letters by which a person recognises a draft and types that they have read it. */
export function draftCode(digest: Sha256Digest): string {
  const hex = digest.slice('sha256:'.length);
  return Array.from({ length: 4 }, (_, i) => {
    const value = Number.parseInt(hex.slice(4 * i, 4 * i + 4), 16);
    return CODE_LETTERS[value % CODE_LETTERS.length];
  }).join('');
}

/** Without letters that look or sound alike. */
const CODE_LETTERS = 'ACDEFHJKLMNPRTUVWXY';
