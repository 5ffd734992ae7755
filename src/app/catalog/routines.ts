import type { CompileResult } from '../../core/workflow/compile-workflow.ts';
import type { BrokenTemplate, Template } from '../../core/workflow/expand/expanded.ts';
import type { WorkflowFile } from '../ports/workflow-sources.ts';
import type { FileChoice } from './choose-files.ts';
import { type FileClaim, isRoutine, stemOf, templateIdOf } from './file-claim.ts';
import { locatedIn } from './file-diagnostics.ts';

/** A file whose steps other workflows can call, and its template name. */
export type Routine = { readonly file: WorkflowFile; readonly templateId: string; readonly claim?: FileClaim };

/** The templates that routine calls can use. */
export type Templates = {
  readonly templates: ReadonlyMap<string, Template>;
  /** Routines with errors: a call must not bring another author's mistake into a run. */
  readonly broken: ReadonlyMap<string, BrokenTemplate>;
};

/** Every routine, lowest rank first. A file without an id is named after its file name. */
export function routinesOf(
  claims: ReadonlyMap<WorkflowFile, FileClaim | undefined>,
  { chosen }: FileChoice,
): readonly Routine[] {
  const nameless = [...claims].flatMap(([file, claim]) =>
    claim === undefined && isRoutine(file, stemOf(file))
      ? [{ file, templateId: templateIdOf(file, stemOf(file)) }]
      : [],
  );
  const named = chosen.flatMap(({ claim }) =>
    claim.kind === 'routine' ? [{ file: claim.file, templateId: templateIdOf(claim.file, claim.id), claim }] : [],
  );
  return [...nameless, ...named].sort((a, b) => a.file.rank - b.file.rank);
}

/** Removes routines that do not compile, and then those that call a removed one. */
export function usableTemplates(
  routines: readonly Routine[],
  compile: (file: WorkflowFile, templates: Templates) => CompileResult,
): Templates & { readonly results: ReadonlyMap<WorkflowFile, CompileResult> } {
  const broken = new Map<string, BrokenTemplate>();
  const refuse = ({ file, templateId }: Routine, result: CompileResult) => {
    const reason = firstError(file, result);
    if (reason !== undefined) broken.set(templateId, reason);
  };
  let left = routines.filter(({ claim }) => claim?.template !== undefined);
  let templates = templatesOf(left);
  for (const routine of routines) {
    if (!left.includes(routine)) refuse(routine, compile(routine.file, { templates, broken }));
  }
  for (;;) {
    const around = { templates, broken };
    const compiled = left.map((routine) => ({ routine, result: compile(routine.file, around) }));
    const sound = compiled.filter(({ result }) => result.kind === 'compiled').map(({ routine }) => routine);
    if (sound.length === left.length) {
      return { templates, broken, results: new Map(compiled.map(({ routine, result }) => [routine.file, result])) };
    }
    for (const { routine, result } of compiled) if (!sound.includes(routine)) refuse(routine, result);
    left = sound;
    templates = templatesOf(left);
  }
}

function templatesOf(routines: readonly Routine[]): ReadonlyMap<string, Template> {
  return new Map(
    routines.flatMap(({ templateId, claim }) => (claim?.template === undefined ? [] : [[templateId, claim.template]])),
  );
}

function firstError(file: WorkflowFile, { diagnostics }: CompileResult): BrokenTemplate | undefined {
  const error = diagnostics.find(({ severity }) => severity === 'error');
  const [located] = error === undefined ? [] : locatedIn(file, [error]);
  return located && { ref: file.ref, line: located.line, column: located.column, message: located.message };
}
