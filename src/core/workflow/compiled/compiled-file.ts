import type { Sha256Digest } from '../../json/canonical-json.ts';
import type { WorkflowHash } from '../../log/ids.ts';
import type { Diagnostic, SourceSpan } from '../diagnostics/diagnostic.ts';

/** What a file says about itself in a list. */
export type FileHead = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** The capabilities that it cannot do without. */
  readonly capabilities: readonly string[];
};

/** Where a file is, as far as it matters to the compiler. */
export type FilePlace = { readonly isBundled: boolean; readonly isInRoutines: boolean };

/**
 * What compiling a file gave, in a form that can be kept. It holds wherever the same compiler meets the same text, as long as
 * the routines it needs are the same and no binding reaches it.
 */
export type CompiledFile = FileHead & {
  /** Of the text, for which it was made. */
  readonly digest: string;
  readonly place: FilePlace;
  readonly idSpan: SourceSpan;
  /** The templates it calls, also by way of each other. */
  readonly called: readonly string[];
  /** The digests of the routines that its meaning depends on, by template id. */
  readonly needs: { readonly [templateId: string]: string };
  /** Its extension points and those of the templates it calls. */
  readonly slotIds: readonly string[];
  /** The commands of its checks: one that contains a bound text is marked. */
  readonly commands: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly sourceHash: Sha256Digest;
  readonly workflowHash: WorkflowHash;
};

/** What else a compiled file depends on. */
export type FileSurroundings = {
  /** The digests of the routines that are called by a template id. */
  readonly routines: (templateId: string) => readonly (string | undefined)[];
  readonly bindings: { readonly [slot: string]: string };
};

/** Whether compiling the file again would give the same. */
export function isCurrent(
  { needs, slotIds, commands }: Pick<CompiledFile, 'needs' | 'slotIds' | 'commands'>,
  { routines, bindings }: FileSurroundings,
): boolean {
  return isUnbound({ slotIds, commands }, bindings) && hasNeeds(needs, routines);
}

/** Whether no binding has an effect. */
export function isUnbound(
  { slotIds, commands }: Pick<CompiledFile, 'slotIds' | 'commands'>,
  bindings: FileSurroundings['bindings'],
): boolean {
  const texts = Object.values(bindings).filter((text) => text !== '');
  return (
    !slotIds.some((slotId) => Object.hasOwn(bindings, slotId)) &&
    !commands.some((command) => texts.some((text) => command.includes(text)))
  );
}

/** Which of two routines of one name is called depends on both, so only a single one counts. */
function hasNeeds(needs: CompiledFile['needs'], routines: FileSurroundings['routines']): boolean {
  return Object.entries(needs).every(([templateId, digest]) => {
    const found = routines(templateId);
    return found.length === 1 && found[0] === digest;
  });
}
