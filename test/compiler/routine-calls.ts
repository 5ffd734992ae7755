import type { Template } from '../../src/core/workflow/expand/expanded.ts';
import { routine } from './compile-file.ts';

export const work = (id: string, rest: object = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...rest });

export const workflow = (steps: readonly object[], rest: object = {}) => ({
  id: 'test.caller',
  name: 'N',
  description: 'D',
  ...rest,
  steps,
});

type Fields = { readonly [key: string]: unknown };

/** A step that calls the routine of that name. */
export const call = (id: string, name: string, { args = {}, ...rest }: Fields = {}) => ({
  id,
  templateCall: { templateId: `x.templates.routine.${name}`, args },
  ...rest,
});

type RoutineFile = Fields & { readonly steps: readonly object[] };

/** Routines by name; each may call those before it. */
export function routines(files: { readonly [name: string]: RoutineFile }): ReadonlyMap<string, Template> {
  const templates = new Map<string, Template>();
  for (const [name, { steps, ...rest }] of Object.entries(files)) {
    const text = JSON.stringify({ ...workflow(steps, rest), id: `x.routine-${name}` });
    const template = routine(text, { templates });
    templates.set(template.templateId, template);
  }
  return templates;
}
