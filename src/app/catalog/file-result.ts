import { type ByCode, byCode } from '../../core/assert.ts';
import type { Sha256, Sha256Digest } from '../../core/json/canonical-json.ts';
import type { WorkflowHash } from '../../core/log/ids.ts';
import {
  type CompiledFile,
  type FileHead,
  type FileSurroundings,
  isCurrent,
  isUnbound,
} from '../../core/workflow/compiled/compiled-file.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import {
  type Diagnostic,
  type DiagnosticCode,
  type Position,
  sourcePosition,
} from '../../core/workflow/diagnostics/diagnostic.ts';
import { sourceHash, type WorkflowOrigin } from '../../core/workflow/drift.ts';
import type { Bindings } from '../../core/workflow/expand/expanded.ts';
import type { CompiledFiles, KeptFile, SourceFile, UnreadReason } from '../ports/workflow-sources.ts';
import type { Routine } from './choose-files.ts';
import { type FileClaim, placeOf } from './file-claim.ts';

/** What compiling a file gave, now or earlier. */
export type FileResult = { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] } | CompiledResult;

export type CompiledResult = {
  readonly kind: 'compiled';
  readonly head: FileHead;
  readonly called: readonly string[];
  /** The templates it depends on: those it calls, and those that its extension points name. */
  readonly templateIds: readonly string[];
  readonly slotIds: readonly string[];
  /** Warnings: the workflow can be used. */
  readonly diagnostics: readonly Diagnostic[];
  readonly workflow: CompiledWorkflow;
  /** Set if it was compiled earlier. */
  readonly stored?: StoredWorkflow;
};

/** What was kept of a workflow, so that it need not be computed again. */
export type StoredWorkflow = {
  readonly sourceHash: Sha256Digest;
  readonly hash: WorkflowHash;
  readonly bytes: () => Uint8Array;
};

/** What the meaning of a file depends on besides its text. */
export type Around = { readonly routines: readonly Routine[]; readonly bindings: Bindings };

/** The result of a file that was not read. */
export function unreadResult(reason: UnreadReason): FileResult {
  return { kind: 'refused', diagnostics: [unreadDiagnostic(reason)] };
}

/** The kept result of a file, if compiling it now would give the same. */
export function keptResult({ kept }: FileClaim, around: Around): CompiledResult | undefined {
  return kept !== undefined && isCurrent(kept.file, surroundingsIn(around)) ? resultIn(kept) : undefined;
}

function resultIn({ file, read }: KeptFile): CompiledResult {
  const { id, name, description, tags, capabilities, called, needs, slotIds, diagnostics } = file;
  return {
    kind: 'compiled',
    head: { id, name, description, tags, capabilities },
    called,
    templateIds: Object.keys(needs),
    slotIds,
    diagnostics,
    get workflow() {
      return read().workflow;
    },
    stored: { sourceHash: file.sourceHash, hash: file.workflowHash, bytes: () => read().bytes },
  };
}

function surroundingsIn({ routines, bindings }: Around): FileSurroundings {
  return {
    bindings,
    routines: (wanted) => routines.flatMap(({ templateId, claim }) => (templateId === wanted ? [claim?.digest] : [])),
  };
}

/** Keeps a result that was just computed, unless it is only right in this workspace. */
export function keepResult(
  { compiledFiles, sha256 }: { readonly compiledFiles?: CompiledFiles; readonly sha256: Sha256 },
  claim: FileClaim,
  { result, around }: { readonly result: CompiledResult; readonly around: Around },
): void {
  const { digest } = claim;
  const { workflow, slotIds } = result;
  const commands = workflow.steps.flatMap(({ checks = [] }) => checks.map(({ run }) => run));
  if (compiledFiles === undefined || digest === undefined) return;
  if (!isUnbound({ slotIds, commands }, around.bindings)) return;
  compiledFiles.keep(() => {
    const needs = needsOf(result, around);
    if (needs === undefined) return undefined;
    const { hash, bytes } = sealWorkflow(workflow, sha256);
    const { called, diagnostics, head } = result;
    const file: CompiledFile = {
      ...head,
      digest,
      place: placeOf(claim.file),
      idSpan: claim.idSpan(),
      called,
      needs,
      slotIds,
      commands,
      diagnostics,
      sourceHash: sourceHash(originOf(claim, result, around), sha256),
      workflowHash: hash,
    };
    return { file, bytes };
  });
}

/** The digests of the routines that a result depends on; `undefined` if one of them is there twice. */
function needsOf({ templateIds }: CompiledResult, around: Around): CompiledFile['needs'] | undefined {
  const { routines } = surroundingsIn(around);
  const found = templateIds.map((templateId) => [templateId, routines(templateId)] as const);
  if (found.some(([, digests]) => digests.length > 1)) return undefined;
  return Object.fromEntries(
    found.flatMap(([templateId, [digest]]) => (digest === undefined ? [] : [[templateId, digest]])),
  );
}

/** Everything that the meaning of a workflow comes from. */
export function originOf(
  { text }: FileClaim,
  { called, slotIds }: Pick<CompiledResult, 'called' | 'slotIds'>,
  { routines, bindings }: Around,
): WorkflowOrigin {
  const isCalled = new Set(called);
  return {
    text,
    routines: new Map(
      routines.flatMap(({ templateId, claim }) =>
        claim !== undefined && isCalled.has(templateId) ? [[templateId, claim.text] as const] : [],
      ),
    ),
    slotIds,
    bindings,
  };
}

/** A diagnostic with line and column. */
export type LocatedDiagnostic = Diagnostic & Position;

export function locatedIn({ content }: SourceFile, diagnostics: readonly Diagnostic[]): readonly LocatedDiagnostic[] {
  const text = content.kind === 'text' ? content.text : '';
  return diagnostics.map((diagnostic) => ({ ...diagnostic, ...sourcePosition(text, diagnostic.span) }));
}

/** Why a file was not read, as a diagnostic of the whole file. */
export function unreadDiagnostic(reason: UnreadReason): Diagnostic {
  const [code, message] = byCode(UNREAD_WORDS, reason);
  return { code, severity: 'error', pointer: '', span: { offset: 0, length: 0 }, message };
}

const UNREAD_WORDS: ByCode<UnreadReason, readonly [DiagnosticCode, string]> = {
  too_large: ({ bytes, bytesMax }) => [
    'file_too_large',
    `The file has ${bytes} bytes; the limit is ${bytesMax}. Split it, or move long texts into referenced documents.`,
  ],
  leads_outside: ({ target }) => [
    'link_leads_outside',
    `This is a link to ${target}, outside of the folder. Replace it with the file itself.`,
  ],
  not_a_file: () => ['file_unreadable', 'This is not a readable file. Replace it with a file, or remove it.'],
  copy_edited: ({ source }) => [
    'copy_edited',
    `This file was changed after it was fetched, so it is not part of the pinned commit and is not used. To fetch it again: workrail source update ${source}. To keep the change, copy the file to ~/.workrail/workflows.`,
  ],
  not_accepted: ({ source, url, commit }) => [
    'source_not_accepted',
    `This repository asks for the source "${source}" (${url} at ${commit.slice(0, 10)}), and nobody accepted it on this machine. Its workflows are not used. The user can look at it and accept it in a terminal: workrail source accept`,
  ],
  not_utf8: () => ['file_unreadable', 'The file is not UTF-8 text. Save it as UTF-8.'],
  too_many_files: ({ filesMax }) => [
    'too_many_files',
    `Only the first ${filesMax} files of this folder are used. Move other files elsewhere.`,
  ],
  io_failed: ({ cause }) => ['file_unreadable', `Cannot read this file (${cause}). Check its permissions.`],
};
