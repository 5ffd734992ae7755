import { ok } from 'neverthrow';
import {
  type Catalog,
  filterWorkflows,
  type InvalidFile,
  type ListedWorkflow,
  waitingSources,
  waitsForUser,
} from '../../app/catalog/catalog.ts';
import type { LocatedDiagnostic } from '../../app/catalog/file-result.ts';
import { defined, type JsonObject, quote } from '../../core/json/json-value.ts';
import { callText } from '../../core/prompt/reply/footer.ts';
import { sourceWords } from '../../core/prompt/reply-parts.ts';
import { explainWorkspace, NO_WORKFLOWS } from '../../core/prompt/reply-warnings.ts';
import { searchWords, wordsIn } from '../../core/text/search-words.ts';
import { clip } from '../../core/text/utf8.ts';
import { visibleLine, visibleText } from '../../core/text/visible-text.ts';
import { andList, plural } from '../../core/text/words.ts';
import { WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const listWorkflowsTool = defineTool({
  name: 'list_workflows',
  title: 'List workflows',
  description:
    'Lists the workflows you can start, and invalid workflow files with their errors. Example: {"query":"review"}',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    query: {
      kind: 'text',
      about: 'Search words. Every word must appear in the id, name, description or tags.',
      mistakenFor: ['search', 'q', 'filter', 'keywords', 'text'],
    },
    tags: { kind: 'texts', about: 'Only workflows with all of these tags.', mistakenFor: ['tag', 'labels'] },
    workspacePath: WORKSPACE_PATH,
  },
  run: async (services, filter, { workspace }) => {
    const catalog = await services.catalog.list(workspace);
    const shown = filterWorkflows(catalog.workflows, filter);
    const broken = shownInvalid(catalog.invalid, filter);
    const { workspaceProblem } = catalog;
    const unused = workspaceProblem === undefined ? undefined : explainWorkspace(workspaceProblem);
    const lines = [...(unused === undefined ? [] : [unused]), ...linesFor(catalog, { shown, broken }, filter)];
    return ok({
      text: visibleText(lines.join('\n')),
      structured: {
        kind: 'ok',
        workflows: shown.map(listed),
        invalid: broken.map(listedInvalid),
        ...(broken.length === catalog.invalid.length ? {} : { invalidTotal: catalog.invalid.length }),
        total: catalog.workflows.length,
        ...(unused === undefined ? {} : { warnings: [{ code: 'workspace_not_used', message: unused }] }),
      },
    });
  },
});

function linesFor(
  { workflows, invalid }: Catalog,
  { shown, broken }: { readonly shown: readonly ListedWorkflow[]; readonly broken: readonly InvalidFile[] },
  filter: Filter,
): readonly string[] {
  return [
    ...(workflows.length + invalid.length === 0 ? [NO_WORKFLOWS] : []),
    ...shown.map(line),
    ...hiddenLine({ total: workflows.length, shown: shown.length }, filter),
    ...shown.flatMap(({ file, warnings }) =>
      warnings.length === 0 ? [] : [`Usable, with warnings: ${file.ref}\n${warnings.map(problem).join('\n')}`],
    ),
    ...broken.map((one) => {
      const head = waitsForUser(one)
        ? `Waiting for the user: source ${waitingSources([one]).join('')}`
        : `Invalid: ${one.file.ref}`;
      return [head, ...problemsOf(one)].join('\n');
    }),
    ...omittedLine(invalid.length - broken.length),
    ...(shown.some(({ sourceKind }) => sourceKind !== 'bundled')
      ? ['A workflow without "(from …)" is bundled with WorkRail.']
      : []),
    ...(shown.length === 0 ? [] : ['Start one with start_workflow, or see its steps first with inspect_workflow.']),
  ];
}

type Filter = {
  readonly query?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly workspacePath?: string | undefined;
};

function hiddenLine(
  { total, shown }: { readonly total: number; readonly shown: number },
  { query, tags = [], workspacePath }: Filter,
): readonly string[] {
  const hidden = total - shown;
  if (hidden === 0) return [];
  const call = { tool: 'list_workflows', arguments: defined({ workspacePath }) };
  const all = `${callText(call).join('')} lists all ${total}.`;
  if (shown > 0) return [`${plural(hidden, 'other does', 'others do')} not match. ${all}`];
  const asked = [...(query === undefined ? [] : [quote(query)]), ...tags.map((tag) => `the tag ${quote(tag)}`)];
  const what = clip(andList(asked), ASKED_BYTES_MAX);
  return [`No workflow matches ${what}. ${all}`];
}

/** A query can have any length. */
const ASKED_BYTES_MAX = 256;

function line(workflow: ListedWorkflow): string {
  const { id, kind, name, description, tags, sourceKind } = workflow;
  const marks = [...new Set([...(kind === 'routine' ? ['routine'] : []), ...tags])];
  const facts = [...(sourceKind === 'bundled' ? [] : [`from ${placeText(workflow)}`]), ...needs(workflow)];
  return [
    visibleLine(`${id}: ${name}. ${description}`),
    ...(marks.length === 0 ? [] : [`[${marks.join(', ')}]`]),
    ...(facts.length === 0 ? [] : [`(${facts.join('; ')})`]),
  ].join(' ');
}

/** Where a workflow comes from, and which files it overrides. */
export function placeText({ file, shadows }: ListedWorkflow): string {
  const { kind, ref, added } = file;
  const source = { workflowSourceKind: kind, workflowSourceRef: ref, workflowSourceCommit: added?.commit };
  const over = shadows.map((one) => `${one.kind} ${one.ref}`);
  return `${sourceWords(source)} ${ref}${over.length === 0 ? '' : `, overrides ${andList(over)}`}`;
}

function needs({ capabilities }: ListedWorkflow): readonly string[] {
  return capabilities.length === 0 ? [] : [`needs ${andList(capabilities.map(capabilityWords))}`];
}

export function capabilityWords(capability: string): string {
  return capability.replaceAll('_', ' ');
}

function listed(workflow: ListedWorkflow): JsonObject {
  const { id, kind, name, description, tags, idStatus, aliases, suggestedId, sourceKind, shadows, warnings } = workflow;
  return {
    id,
    kind,
    name,
    description,
    tags,
    idStatus,
    sourceKind,
    ...(warnings.length === 0 ? {} : { warnings: warnings.map(problem) }),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...defined({ suggestedId }),
    ...(shadows.length === 0 ? {} : { shadows: shadows.map(({ ref }) => ref) }),
  };
}

/** A folder may hold hundreds of files that are no workflows. */
const INVALID_SHOWN_MAX = 20;
const PROBLEMS_SHOWN_MAX = 5;

/**
 * The invalid files that a caller should see: a search shows those that it is about. A source that the user has
 * not accepted yet comes first in every list, because it may have what the search is for.
 */
function shownInvalid(invalid: readonly InvalidFile[], { query = '', tags = [] }: Filter): readonly InvalidFile[] {
  const words = searchWords(query);
  const isMeant = ({ file, id = '' }: InvalidFile) => wordsIn(`${file.ref} ${id}`, words).length === words.length;
  const meant = tags.length > 0 ? [] : invalid.filter((one) => !waitsForUser(one) && isMeant(one));
  return [...invalid.filter(waitsForUser), ...meant].slice(0, INVALID_SHOWN_MAX);
}

function omittedLine(omitted: number): readonly string[] {
  if (omitted === 0) return [];
  const files = plural(omitted, 'invalid file is', 'invalid files are');
  return [`${files} not shown. This command shows all of them: workrail workflow check --all`];
}

function problemsOf({ diagnostics }: InvalidFile): readonly string[] {
  const more = diagnostics.length - PROBLEMS_SHOWN_MAX;
  return [...diagnostics.slice(0, PROBLEMS_SHOWN_MAX).map(problem), ...(more > 0 ? [`and ${more} more`] : [])];
}

function listedInvalid(invalid: InvalidFile): JsonObject {
  const { file, id } = invalid;
  return defined({ file: file.ref, id, problems: problemsOf(invalid) });
}

function problem({ code, line, column, pointer, message }: LocatedDiagnostic): string {
  // A source that waits for a person has no place in a file.
  if (code === 'source_not_accepted') return message;
  return `line ${line}, column ${column}${pointer === '' ? '' : ` (${pointer})`}: ${message}`;
}
