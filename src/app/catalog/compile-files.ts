import type { CompileInput, CompileResult } from '../../core/workflow/compile-workflow.ts';
import { type BrokenTemplate, type Template, templateOf } from '../../core/workflow/expand/expanded.ts';
import { syntaxIn } from '../../core/workflow/format/read-workflow.ts';
import type { WorkflowFile } from '../ports/workflow-sources.ts';
import type { Routine } from './choose-files.ts';
import { placeOf } from './file-claim.ts';
import {
  type Around,
  type CompiledResult,
  type FileResult,
  keptResult,
  locatedIn,
  unreadResult,
} from './file-result.ts';

/** What compiles files: loaded only when one has to be compiled. */
export type FileCompiler = {
  readonly compile: (file: WorkflowFile) => FileResult;
  /** The results of routines, which are compiled before anything can call them. */
  readonly routineResults: ReadonlyMap<WorkflowFile, FileResult>;
};

type Compile = (input: CompileInput) => CompileResult;

/** The templates that routine calls can use. */
type Templates = {
  readonly templates: ReadonlyMap<string, Template>;
  /** Routines with errors: a call must not bring another author's mistake into a run. */
  readonly broken: ReadonlyMap<string, BrokenTemplate>;
};

/** Compiles files among these routines and bindings. */
export function fileCompiler(around: Around, compile: Compile): FileCompiler {
  const { bindings } = around;
  const compileAmong = (file: WorkflowFile, templates: Templates): FileResult => {
    if (file.content.kind === 'unread') return unreadResult(file.content.reason);
    const { text } = file.content;
    const result = compile({ text, ...placeOf(file), ...templates, bindings });
    return result.kind === 'refused' ? result : compiledResult(result, templates.templates);
  };
  const { results, ...usable } = usableTemplates(
    around.routines,
    ({ file, claim }, templates) => (claim && keptResult(claim, around)) ?? compileAmong(file, templates),
  );
  return { compile: (file) => compileAmong(file, usable), routineResults: results };
}

function compiledResult(
  { workflow, syntax, called, diagnostics }: Extract<CompileResult, { kind: 'compiled' }>,
  templates: ReadonlyMap<string, Template>,
): CompiledResult {
  const { id, name, description, tags } = syntax;
  const points = [syntax, ...called.flatMap((template) => templates.get(template) ?? [])].flatMap(
    (one) => one.extensionPoints,
  );
  const named = points.flatMap((point) => (templates.has(point.default) ? [point.default] : []));
  return {
    kind: 'compiled',
    head: { id, name, description, tags, capabilities: requiredIn(workflow) },
    called,
    templateIds: [...new Set([...called, ...named])],
    slotIds: [...new Set(points.map(({ slotId }) => slotId))].sort(),
    diagnostics,
    workflow,
  };
}

function requiredIn({ capabilities }: CompiledResult['workflow']): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, requirement]) => (requirement === 'required' ? [name] : []));
}

/** Removes routines that do not compile, and then those that call a removed one. */
function usableTemplates(
  routines: readonly Routine[],
  compile: (routine: Routine, templates: Templates) => FileResult,
): Templates & { readonly results: ReadonlyMap<WorkflowFile, FileResult> } {
  const broken = new Map<string, BrokenTemplate>();
  const refuse = ({ file, templateId }: Routine, result: FileResult) => {
    const reason = firstError(file, result);
    if (reason !== undefined) broken.set(templateId, reason);
  };
  const read = routines.map((routine) => ({ routine, template: claimedTemplate(routine) }));
  let left = read.filter(({ template }) => template !== undefined);
  let templates = templatesOf(left);
  for (const one of read) {
    if (!left.includes(one)) refuse(one.routine, compile(one.routine, { templates, broken }));
  }
  for (;;) {
    const among = { templates, broken };
    const compiled = left.map((one) => ({ one, result: compile(one.routine, among) }));
    const sound = compiled.filter(({ result }) => result.kind === 'compiled').map(({ one }) => one);
    if (sound.length === left.length) {
      return { templates, broken, results: new Map(compiled.map(({ one, result }) => [one.routine.file, result])) };
    }
    for (const { one, result } of compiled) if (!sound.includes(one)) refuse(one.routine, result);
    left = sound;
    templates = templatesOf(left);
  }
}

type ReadRoutine = { readonly routine: Routine; readonly template: Template | undefined };

/** The steps of a routine, if they can be read. */
function claimedTemplate({ claim, templateId }: Routine): Template | undefined {
  const syntax = claim && syntaxIn(claim.text);
  return syntax && templateOf(syntax, templateId);
}

function templatesOf(routines: readonly ReadRoutine[]): ReadonlyMap<string, Template> {
  return new Map(
    routines.flatMap(({ routine, template }) => (template === undefined ? [] : [[routine.templateId, template]])),
  );
}

function firstError(file: WorkflowFile, { diagnostics }: FileResult): BrokenTemplate | undefined {
  const error = diagnostics.find(({ severity }) => severity === 'error');
  const [located] = error === undefined ? [] : locatedIn(file, [error]);
  return located && { ref: file.ref, line: located.line, column: located.column, message: located.message };
}
