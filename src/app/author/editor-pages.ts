import { err, ok, type Result, safeTry } from 'neverthrow';
import { contextKeysIn, suggestAt } from '../../core/author/suggest.ts';
import { suggestInScenarios } from '../../core/author/suggest-scenario.ts';
import type { FinishedRun } from '../../core/author/workflow-from-run.ts';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import type { ConsoleInput, ConsoleReply } from '../../core/wire/console-shapes.ts';
import type { NewRequest, RehearsedTurn } from '../../core/wire/editor-shapes.ts';
import type { StartRefusal } from '../run/start-workflow.ts';
import { authorCatalog } from './author-catalog.ts';
import type { AuthorServices } from './author-services.ts';
import { checkFiles, shownFinding } from './check-files.ts';
import { type DryRun, dryRun } from './dry-run.ts';
import { type FileUnread, fileUnread, openFile, saveEdited, withTexts } from './edit-files.ts';
import {
  findTargetWorkflow,
  type NothingOwn,
  scenarioPathOf,
  type TargetRefusal,
  type WorkflowRefusal,
} from './find-targets.ts';
import type { MigrateRefusal } from './migrate-id.ts';
import {
  type CopyRefusal,
  copyWorkflow,
  namingOf,
  newFromRun,
  newWorkflow,
  type PlaceRefusal,
} from './new-workflow.ts';
import { type Answer, turnWaitsForPerson } from './play-run.ts';
import { type PreviewRefusal, previewStep } from './preview-step.ts';
import { offeredIn, type Sent, type Turn } from './rehearsal.ts';
import { STARTERS, type StarterName } from './starters.ts';
import { stuckWords } from './test-scenario.ts';
import { type ScenarioRefusal, testWorkflows } from './test-workflows.ts';

/** What the editor may be refused, besides what commands are refused. */
export type EditorRefusal =
  | TargetRefusal
  | NothingOwn
  | WorkflowRefusal
  | PreviewRefusal
  | ScenarioRefusal
  | PlaceRefusal
  | CopyRefusal
  | MigrateRefusal
  | FileUnread
  | { readonly code: 'run_not_finished' }
  | { readonly code: 'rehearsal_refused'; readonly refusal: StartRefusal['code'] };

export type EditorServices = {
  readonly author: AuthorServices;
  readonly explainEdit: (refusal: EditorRefusal) => ErrorEnvelope;
  readonly finishedRun: (at: AtRun) => Promise<Result<FinishedRun, ErrorEnvelope>>;
};

export type AtRun = { readonly sessionId: SessionId; readonly runId?: RunId };

type Page<Path extends keyof typeof import('../../core/wire/console-shapes.ts').CONSOLE_REPLIES> = Promise<
  Result<ConsoleReply<Path>, ErrorEnvelope>
>;

type Edited = Pick<ConsoleInput<'checkText'>, 'path' | 'text' | 'scenarios'>;

/** A workflow file with its scenarios, to be edited or only read. */
export async function filePage(
  { author, explainEdit }: EditorServices,
  { workflow }: ConsoleInput<'editFile'>,
): Page<'editFile'> {
  return (await openFile(author, workflow)).mapErr(explainEdit);
}

/** What a new workflow can be made from. */
export async function newPage({ author }: EditorServices): Page<'newWorkflow'> {
  const { all } = await authorCatalog(author);
  const starters = Object.entries(STARTERS).map(([name, { summary }]) => ({ name: name as StarterName, summary }));
  const workflows = all.workflows.map(({ id, name }) => ({ id, name }));
  return ok({ starters, workflows, folders: author.folders });
}

/** The author with what stands in the editor in place of what is on disk. */
function editing(author: AuthorServices, { path, text, scenarios }: Edited): AuthorServices {
  const beside = scenarios === undefined ? [] : [[scenarioPathOf(path), scenarios] as const];
  return withTexts(author, new Map([[path, text], ...beside]));
}

/** What `workflow check` would report if the texts were saved. */
export async function checkPage(
  { author, explainEdit }: EditorServices,
  asked: ConsoleInput<'checkText'>,
): Page<'checkText'> {
  const { path, scenarios } = asked;
  const beside = scenarioPathOf(path);
  const names = [path, ...(scenarios === undefined ? [] : [beside])];
  const own = editing(author, asked);
  const checked = await checkFiles(own, { names, isAll: false });
  if (checked.isErr()) return err(explainEdit(checked.error));
  const real = own.files.resolve(beside);
  const shown = (isBeside: boolean) =>
    checked.value.files
      .filter((file) => (own.files.resolve(file.path) === real) === isBeside)
      .flatMap(({ findings }) => findings.map(shownFinding));
  return ok({ findings: shown(false), scenarioFindings: shown(true) });
}

export function suggestPage({ text, offset, workflow }: ConsoleInput<'suggest'>): ConsoleReply<'suggest'> {
  const at = Math.min(offset, text.length);
  return workflow === undefined ? suggestAt(text, at) : suggestInScenarios(text, at, workflow);
}

/** What an agent reads at a step with these values. Without a step, the first one is shown. */
export async function previewPage(
  { author, explainEdit }: EditorServices,
  asked: ConsoleInput<'previewText'>,
): Page<'previewText'> {
  const { path, text, step, context = {}, mode = 'guided' } = asked;
  const own = editing(author, asked);
  const shown = safeTry(async function* (): Flow<ConsoleReply<'previewText'>, EditorRefusal> {
    const { listed, catalog } = yield* await findTargetWorkflow(own, path);
    const steps = listed.workflow.steps.map(({ stepId, title }) => ({ stepId: String(stepId), title }));
    const stepId = step ?? steps[0]?.stepId ?? '';
    const places = { workspace: own.workspace, file: listed.file.path };
    const request = { stepId, context, mode, places };
    const { reply, failing } = yield* await previewStep(await own.services(catalog), listed.workflow, request);
    const whole = [reply.text, ...(reply.furtherTexts ?? [])].join('\n\n');
    const contextKeys = contextKeysIn(text);
    return ok({ steps, stepId, text: whole, bytes: utf8Length(whole), failing, contextKeys });
  });
  return (await shown).mapErr(explainEdit);
}

/** Plays everything that was handed in so far, and shows what is due then. */
export async function rehearsePage(
  { author, explainEdit }: EditorServices,
  asked: ConsoleInput<'rehearse'>,
): Page<'rehearse'> {
  const own = editing(author, asked);
  const target = await findTargetWorkflow(own, asked.path);
  if (target.isErr()) return err(explainEdit(target.error));
  const turns: Turn[] = [];
  const { goal, context, mode, sent } = asked;
  const script = { ...defined({ goal, mode }), ...(context === undefined ? {} : { context: { ...context } }) };
  const request = { script, answer: answersFrom(sent), watch: (turn: Turn) => turns.push(turn) };
  const played = await dryRun(own, target.value, request);
  if (played.isErr()) return err(explainEdit({ code: 'rehearsal_refused', refusal: played.error.code }));
  return ok(rehearsed(turns, played.value));
}

/** Answers with what was handed in, in order, and then stops. */
function answersFrom(sent: ConsoleInput<'rehearse'>['sent']): Answer {
  const left = [...sent];
  return async ({ reply }) => {
    const next = left.shift();
    if (next === undefined) return undefined;
    const { person, ...given } = next;
    return { sent: given, listed: { at: reply.pending?.stepId ?? '', ...defined({ person }) } };
  };
}

function rehearsed(turns: readonly Turn[], { run }: DryRun): ConsoleReply<'rehearse'> {
  const { path, skipped, gaps, isComplete, stuck } = run;
  const last = turns.at(-1);
  const form = last && offeredIn(last.reply);
  const isStuck = stuck !== undefined && stuck.code !== 'stopped';
  return {
    turns: turns.map(shownTurn),
    waitsForPerson: last !== undefined && turnWaitsForPerson(last),
    isComplete,
    path,
    skipped,
    gaps: gaps.map(({ summary }) => summary),
    ...(form === undefined ? {} : { form: shownForm(form) }),
    ...(last?.filled === undefined ? {} : { sample: shownForm(last.filled) }),
    ...(isStuck ? { stuck: stuckWords(stuck) } : {}),
  };
}

function shownForm({ notes, artifacts, context }: Sent): NonNullable<ConsoleReply<'rehearse'>['form']> {
  return { artifacts, ...defined({ notes, context }) };
}

function shownTurn({ reply, text }: Turn): RehearsedTurn {
  const { pending, blockers, isComplete } = reply;
  const of = pending?.position.of ?? undefined;
  const place = pending === null ? {} : { stepId: pending.stepId, index: pending.position.index, ...defined({ of }) };
  return {
    ...place,
    title: isComplete ? 'Complete' : (pending?.title ?? 'Before the first step'),
    kind: isComplete ? 'complete' : reply.kind === 'blocked' ? 'blocked' : 'due',
    text: pending?.prompt ?? text,
    blockers: blockers.map(({ code, message, suggestedFix }) => ({ code, message, ...defined({ suggestedFix }) })),
  };
}

/** Runs the scenarios as they stand in the editor. */
export async function testPage(
  { author, explainEdit }: EditorServices,
  asked: ConsoleInput<'testText'>,
): Page<'testText'> {
  const own = editing(author, asked);
  const unread = fileUnread(own, scenarioPathOf(asked.path));
  if (unread !== undefined) return err(explainEdit(unread));
  const tested = await testWorkflows(own, { names: [asked.path], isAll: false });
  if (tested.isErr()) return err(explainEdit(tested.error));
  const [file] = tested.value.files;
  const path = scenarioPathOf(asked.path);
  return file === undefined ? err(explainEdit({ code: 'no_scenarios', path })) : ok(file);
}

/** Writes a file of the author, unless it changed since it was opened. */
export async function savePage(
  { author, explainEdit }: EditorServices,
  asked: ConsoleInput<'saveFile'>,
): Page<'saveFile'> {
  return (await saveEdited(author, asked)).mapErr(explainEdit);
}

/** Makes a workflow from a starter, another workflow or a finished run. */
export async function createPage(services: EditorServices, asked: NewRequest): Page<'createWorkflow'> {
  const { author, explainEdit } = services;
  const { from, id, to } = asked;
  if (from.kind === 'copy') {
    const copied = await copyWorkflow(author, { asked: from.workflow, newId: id, to });
    return copied.map(({ path }) => ({ id, path })).mapErr(explainEdit);
  }
  const naming = namingOf(id, defined({ name: asked.name, description: asked.description }));
  if (from.kind === 'starter') {
    const made = await newWorkflow(author, { ...naming, starter: from.starter, to });
    return made.map(({ path }) => ({ id, path })).mapErr(explainEdit);
  }
  const run = await services.finishedRun(from);
  if (run.isErr()) return err(run.error);
  const made = await newFromRun(author, { ...naming, run: run.value, to });
  return made.map(({ path }) => ({ id, path })).mapErr(explainEdit);
}
