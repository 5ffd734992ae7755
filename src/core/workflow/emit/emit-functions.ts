import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompilerFinding } from '../finding.ts';
import type { FunctionCall, StandardStep } from '../format/syntax.ts';
import { pointerTo } from '../source/source-node.ts';
import type { Emission } from './emission.ts';

type PinnedFunction = Emission['functions'][number];
type Parameter = PinnedFunction['parameters'][number];

/** The functions a step refers to or calls: its own come before its loops', and these before the workflow's. */
export function emitFunctions(
  step: StandardStep,
  loops: readonly string[],
  { functions, findings }: Emission,
): Pick<CompiledStep, 'functionNames' | 'functionCalls'> {
  const { functionReferences, functionCalls } = step;
  if (functionReferences.length === 0 && functionCalls.length === 0) return { functionNames: [] };
  const visible = visibleFunctions(functions, step.id, loops);
  const named = [
    ...functionReferences.map(({ name, at }) => ({ name, at })),
    ...functionCalls.map(({ name, at }) => ({ name, at: `${at}/name` })),
  ];
  for (const { name, at } of named) {
    if (!visible.has(name)) findings.push(unknownFunction(name, at, [...visible.keys()]));
  }
  for (const call of functionCalls) checkArguments(call, visible.get(call.name)?.parameters, findings);
  const functionNames = [...new Set(named.map(({ name }) => name))];
  if (functionCalls.length === 0) return { functionNames };
  return { functionNames, functionCalls: functionCalls.map(({ name, args }) => ({ name, args })) };
}

/** By name; where two have the same, the one nearer to the step hides the other. */
function visibleFunctions(
  functions: readonly PinnedFunction[],
  stepId: string,
  loops: readonly string[],
): ReadonlyMap<string, PinnedFunction> {
  const found = functions.flatMap((one) => {
    const { scope } = one;
    if (scope.kind === 'workflow') return [{ one, distance: loops.length + 1 }];
    if (scope.kind === 'step') return scope.stepId === stepId ? [{ one, distance: 0 }] : [];
    const depth = loops.indexOf(scope.loopId);
    return depth === -1 ? [] : [{ one, distance: loops.length - depth }];
  });
  const farthestFirst = found.toSorted((a, b) => b.distance - a.distance);
  return new Map(farthestFirst.map(({ one }) => [one.name, one]));
}

function unknownFunction(name: string, at: string, known: readonly string[]): CompilerFinding {
  const message = `There is no function "${name}" here.`;
  return { code: 'unknown_function', severity: 'error', at, message, unknown: { name, known } };
}

function checkArguments(
  { at, name, args }: FunctionCall,
  parameters: readonly Parameter[] | undefined,
  findings: CompilerFinding[],
): void {
  if (parameters === undefined) return;
  for (const parameter of parameters) {
    if (parameter.isOptional === true || Object.hasOwn(args, parameter.name)) continue;
    const message = `The function "${name}" needs the argument "${parameter.name}". Add it to "args".`;
    findings.push({ code: 'missing_argument', severity: 'error', at, message });
  }
  const known = parameters.map((parameter) => parameter.name);
  for (const [argument, value] of Object.entries(args)) {
    const place = pointerTo(`${at}/args`, argument);
    const parameter = parameters.find((one) => one.name === argument);
    if (parameter === undefined) {
      const message = `The function "${name}" has no parameter "${argument}".`;
      const unknown = { name: argument, known, isKey: true };
      findings.push({ code: 'unknown_argument', severity: 'error', at: place, message, unknown });
    } else checkChoice(value, parameter, { at: place, findings });
  }
}

/** A value that is filled in while a workflow runs cannot be judged before. */
function checkChoice(
  value: string,
  { name, choices }: Parameter,
  { at, findings }: { readonly at: string; readonly findings: CompilerFinding[] },
): void {
  const words = choices?.map(String);
  if (words === undefined || words.includes(value) || value.includes('{')) return;
  const message = `"${value}" is none of what "${name}" may be.`;
  findings.push({ code: 'wrong_value', severity: 'error', at, message, unknown: { name: value, known: words } });
}
