import { nodeAt, plainValue, type SourceNode, type SourceObject } from '../source/source-node.ts';
import { KEYS } from './keys.ts';
import { TEXT_LIMITS } from './limits.ts';
import { readTextMap } from './read-template-call.ts';
import {
  asObject,
  checkKeys,
  checkUnique,
  field,
  type Reader,
  readChoice,
  readFlag,
  readList,
  readText,
  replaceWith,
  reportError,
  reportMissing,
  reportWarning,
  textOf,
} from './reader.ts';
import type { FunctionCall, FunctionSyntax, ParameterSyntax, StepSyntax, WorkflowSyntax } from './syntax.ts';

/** Widest first. */
export const FUNCTION_SCOPES = ['workflow', 'loop', 'step'] as const;
type FunctionScope = (typeof FUNCTION_SCOPES)[number];

/** Either the bare name or a call with anything between the parentheses. */
const CALL = /^([A-Za-z_][A-Za-z0-9_]*)(?:\(.*\))?$/s;

/** The functions that are defined at a place: for it, or for something wider that it is part of. */
export function readFunctions(reader: Reader, object: SourceObject, place: FunctionScope): readonly FunctionSyntax[] {
  return readList(reader, object, 'functionDefinitions').flatMap((node) => readFunction(reader, node, place) ?? []);
}

/** `"name()"` refers to the definition `name`. */
export function readFunctionReferences(
  reader: Reader,
  object: SourceObject,
): readonly { readonly at: string; readonly name: string }[] {
  return readList(reader, object, 'functionReferences').flatMap((node) => {
    const name = functionName(reader, node, 'A function reference is written "name()".');
    return name === undefined ? [] : [{ at: node.pointer, name }];
  });
}

/** `{name, args}` asks for a function with what its parameters stand for. */
export function readFunctionCalls(reader: Reader, object: SourceObject): readonly FunctionCall[] {
  return readList(reader, object, 'functionCalls').flatMap((node) => {
    const call = asObject(reader, node, 'A function call');
    if (call === undefined) return [];
    checkKeys(reader, call, { keys: KEYS.functionCall });
    const args = readTextMap(reader, field(call, 'args'), '"args"');
    const nameNode = field(call, 'name');
    const name =
      nameNode === undefined
        ? reportMissing(reader, call, 'name')
        : functionName(reader, nameNode, 'Write the name of a function here, and what it is given into "args".');
    return name === undefined ? [] : [{ at: call.pointer, name, args }];
  });
}

function functionName(reader: Reader, node: SourceNode, message: string): string | undefined {
  const text = textOf(reader, node, { what: 'The name of a function', bytesMax: TEXT_LIMITS.name });
  if (text === undefined) return undefined;
  return CALL.exec(text.trim())?.[1] ?? reportError(reader, node, { code: 'wrong_value', message });
}

function readFunction(reader: Reader, node: SourceNode, place: FunctionScope): FunctionSyntax | undefined {
  const object = asObject(reader, node, 'A function definition');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.functionDefinition });
  const name = readText(reader, object, { name: 'name', bytesMax: TEXT_LIMITS.name, isRequired: true });
  const definition = readText(reader, object, {
    name: 'definition',
    bytesMax: TEXT_LIMITS.definition,
    isRequired: true,
  });
  const scope = readScope(reader, object, place);
  const parameters = readList(reader, object, 'parameters').flatMap((one) => readParameter(reader, one) ?? []);
  if (name === undefined || definition === undefined) return undefined;
  const bare = CALL.exec(name.trim())?.[1];
  if (bare !== undefined) return { at: object.pointer, name: bare, definition, parameters, scope };
  const message = 'The name of a function is made of letters, digits and "_", and begins with no digit.';
  return reportError(reader, field(object, 'name') ?? object, { code: 'bad_id', message });
}

/** A definition reaches as far as the place it stands at, or further. */
function readScope(reader: Reader, object: SourceObject, place: FunctionScope): FunctionScope {
  const scope = readChoice(reader, object, { name: 'scope', choices: FUNCTION_SCOPES }) ?? place;
  if (FUNCTION_SCOPES.indexOf(scope) <= FUNCTION_SCOPES.indexOf(place)) return scope;
  const message = `This stands with the ${place}, so the whole ${place} sees it. To keep it to one ${scope}, move it there.`;
  reportWrongScope(reader, field(object, 'scope') ?? object, { place, message });
  return place;
}

/** Says that a scope does not count, and what counts in its place. */
function reportWrongScope(
  reader: Reader,
  node: SourceNode,
  { place, message }: { readonly place: FunctionScope; readonly message: string },
): void {
  reportWarning(reader, node, { code: 'wrong_scope', message, fix: replaceWith(node, place) });
}

function readParameter(reader: Reader, node: SourceNode): ParameterSyntax | undefined {
  if (node.kind === 'string') {
    const bare = textOf(reader, node, { what: 'A parameter', bytesMax: TEXT_LIMITS.name });
    return bare === undefined ? undefined : { name: bare };
  }
  const object = asObject(reader, node, 'A parameter');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.parameter });
  const name = readText(reader, object, { name: 'name', bytesMax: TEXT_LIMITS.name, isRequired: true });
  const type = readText(reader, object, { name: 'type', bytesMax: TEXT_LIMITS.name });
  const description = readText(reader, object, { name: 'description', bytesMax: TEXT_LIMITS.description });
  const isRequired = readFlag(reader, object, 'required');
  const fallback = field(object, 'default');
  const choices = readList(reader, object, 'enum').map(plainValue);
  if (name === undefined) return undefined;
  return {
    name,
    ...(type === undefined ? {} : { type }),
    ...(description === undefined ? {} : { description }),
    ...(isRequired === false || fallback !== undefined ? { isOptional: true } : {}),
    ...(fallback === undefined ? {} : { default: plainValue(fallback) }),
    ...(choices.length === 0 ? {} : { choices }),
  };
}

type Settled = Pick<WorkflowSyntax, 'functions' | 'steps'>;

/** Puts every function where it is visible from, so that nothing behind the reader has to know who wrote it where. */
export function settleFunctions(reader: Reader, { functions, steps }: Settled): Settled {
  const wide: FunctionSyntax[] = [];
  const settled = settleSteps(steps, { reader, wide, round: undefined });
  return { functions: unique(reader, [...functions, ...wide]), steps: settled };
}

type Where = {
  readonly reader: Reader;
  /** Takes what the whole workflow sees. */
  readonly wide: FunctionSyntax[];
  /** Takes what the loop around sees; there is none at the top level. */
  readonly round: FunctionSyntax[] | undefined;
};

function settleSteps(steps: readonly StepSyntax[], where: Where): readonly StepSyntax[] {
  const bodies = new Map<string, FunctionSyntax[]>(
    steps.flatMap((step) => (step.kind === 'loop' && step.body.kind === 'reference' ? [[step.body.stepId, []]] : [])),
  );
  // What a step brings to a loop that names it as its body must be known before that loop is settled.
  const settled = steps.map((step) => settleStep(step, { ...where, round: bodies.get(step.id) ?? where.round }));
  return settled.map((step) => {
    if (step.kind !== 'loop' || step.body.kind === 'steps') return step;
    return { ...step, functions: unique(where.reader, [...step.functions, ...(bodies.get(step.body.stepId) ?? [])]) };
  });
}

function settleStep(step: StepSyntax, where: Where): StepSyntax {
  if (step.kind !== 'standard' && step.kind !== 'loop') return step;
  if (step.kind === 'standard') {
    return {
      ...step,
      functions: unique(
        where.reader,
        step.functions.filter((one) => staysAtStep(one, where)),
      ),
    };
  }
  const own = step.functions.filter((one) => !isTaken(one, 'workflow', where.wide));
  if (step.body.kind === 'reference') return { ...step, functions: own };
  const round: FunctionSyntax[] = [];
  const steps = settleSteps(step.body.steps, { ...where, round });
  return { ...step, functions: unique(where.reader, [...own, ...round]), body: { kind: 'steps', steps } };
}

function staysAtStep(one: FunctionSyntax, { reader, wide, round }: Where): boolean {
  if (isTaken(one, 'workflow', wide)) return false;
  if (one.scope === 'loop' && round === undefined) {
    const message = 'There is no loop around this step, so only the step sees this.';
    reportWrongScope(reader, nodeAt(reader.root, `${one.at}/scope`), { place: 'step', message });
  }
  return round === undefined || !isTaken(one, 'loop', round);
}

function isTaken(one: FunctionSyntax, scope: FunctionSyntax['scope'], taken: FunctionSyntax[]): boolean {
  if (one.scope !== scope) return false;
  taken.push(one);
  return true;
}

function unique(reader: Reader, functions: readonly FunctionSyntax[]): readonly FunctionSyntax[] {
  checkUnique(functions, { what: 'function', name: 'name' }, reader.findings);
  return functions;
}
