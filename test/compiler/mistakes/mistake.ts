import type { DiagnosticCode } from '../../../src/core/workflow/diagnostics/diagnostic.ts';
import { branchesOf, type Json, type Leaf, pointerOf, replaced } from '../json-leaves.ts';

export type JsonObject = { readonly [key: string]: Json };

/** A file with one mistake in it, and what its author should see. */
export type Mistake = {
  readonly text: string;
  readonly code: DiagnosticCode;
  readonly pointer: string;
  /** Only a warning; where something else depends on what is misspelled, that is an error of its own. */
  readonly isWarning?: boolean;
  readonly hasFix?: boolean;
};

/** One way in which authors go wrong, wherever a document offers a place for it. */
export type Operator = { readonly name: string; readonly mistakes: (document: Json) => readonly Mistake[] };

type Change = Omit<Mistake, 'text' | 'pointer'> & { readonly path: readonly string[]; readonly document: Json };

const PLACES_MAX = 3;

export function operator(name: string, changes: (document: Json) => readonly Change[]): Operator {
  return {
    name,
    mistakes: (document) =>
      changes(document)
        .slice(0, PLACES_MAX)
        .map(({ path, document: changed, ...rest }) => ({
          ...rest,
          text: JSON.stringify(changed, null, 2),
          pointer: pointerOf(path),
        })),
  };
}

/** An operator that puts something into steps of a kind, with the place it goes wrong at relative to the step. */
export function inSteps(
  name: string,
  kind: StepKind,
  mistake: {
    readonly put: (step: JsonObject) => { readonly [key: string]: Json | undefined };
    readonly at: readonly string[];
  } & Omit<Mistake, 'text' | 'pointer'>,
): Operator {
  const { put, at, ...expected } = mistake;
  return operator(name, (document) =>
    stepsOf(document, kind).map(({ path, value }) => {
      const changed = { ...(value as JsonObject), ...put(value as JsonObject) };
      const step = Object.fromEntries(Object.entries(changed).filter(([, one]) => one !== undefined)) as Json;
      return { ...expected, path: [...path, ...at], document: replaced(document, path, step) };
    }),
  );
}

/** An operator that adds an entry to a list of the top level, at the end. */
export function added(
  name: string,
  {
    list,
    entry,
    at,
    ...expected
  }: { list: string; entry: Json; at: readonly string[] } & Omit<Mistake, 'text' | 'pointer'>,
): Operator {
  return operator(name, (document) => {
    const before = listOf(document, list);
    const changed = replaced(document, [list], [...before, entry]);
    return [{ ...expected, path: [list, String(before.length), ...at], document: changed }];
  });
}

type StepKind = 'any' | 'standard' | 'prompted' | 'loop' | 'call';

export function stepsOf(document: Json, kind: StepKind): readonly Leaf[] {
  return branchesOf(document).filter(({ path, value }) => {
    if (Array.isArray(value) || !['steps', 'body'].includes(path.at(-2) ?? '')) return false;
    const step = value as JsonObject;
    const isCall = 'templateCall' in step || step['type'] === 'template_call';
    const isStandard = !isCall && step['type'] === undefined;
    if (kind === 'any') return true;
    if (kind === 'prompted') return isStandard && 'prompt' in step;
    if (kind === 'standard') return isStandard;
    return kind === 'call' ? isCall : step['type'] === 'loop';
  });
}

export function listOf(document: Json, name: string): readonly Json[] {
  const list = (document as JsonObject)[name];
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

export function misspelled(key: string): string {
  return `${key.slice(0, -2)}${key.at(-1)}${key.at(-2)}`;
}

export function renamedKey(object: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}

export const isMisspellable = (key: string) => key.length >= 5 && misspelled(key) !== key;

export const work = (id: string, rest: JsonObject = {}): JsonObject => ({
  id,
  title: 'Added',
  prompt: 'Added.',
  ...rest,
});
export const loop = (id: string, settings: JsonObject): JsonObject => ({
  id,
  type: 'loop',
  loop: settings,
  body: [work(`${id}-body`)],
});
export const condition = { var: 'x', equals: 1 };
export const ref = (conditionId: string) => ({ kind: 'condition_ref', conditionId });
export const consequence = (level: string) => ({
  when: { anyEqualsLevel: level },
  effect: { kind: 'require_followup', guidance: 'More.' },
});
export const triage = 'project.templates.routine.triage';
