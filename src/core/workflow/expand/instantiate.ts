import { NOT_GIVEN } from '../../text/words.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { NameRole } from '../format/field.ts';
import type { FunctionSyntax } from '../format/function-fields.ts';
import type { StepSyntax, TemplateStep } from '../format/step-fields.ts';
import { mapObject } from '../format/text-walk.ts';
import { workflow } from '../format/workflow-fields.ts';
import { pointerTo } from '../source/source-node.ts';
import { countExpansion, type Expansion, isOverBudget, type Template } from './expanded.ts';
import { AS_IT_IS, filler } from './fill-text.ts';

/** A template for one call. */
export type Instance = Pick<Template, 'agentRole' | 'preconditions' | 'clarificationPrompts' | 'steps'>;

/**
 * A template with arguments in their places and all its ids under the call's id, so that two calls never meet. What it
 * declares besides its steps is brought along. Problems are reported at the call: that is the file the author has open.
 */
export function instantiate(template: Template, call: TemplateStep, expansion: Expansion): Instance {
  const { tree, used } = filledTemplate(template, call, expansion);
  bring(tree, call, expansion);
  if (!isOverBudget(expansion.made)) checkArguments(call, argumentsOf(template, used), expansion.findings);
  return { ...tree, steps: tree.steps.map((step) => withFunctions(step, tree.functions)) };
}

/** Names that others may have too, so those of a template are put under the id of its call. */
const RENAMED: ReadonlySet<NameRole> = new Set(['step', 'loop', 'condition', 'assessment', 'reference']);

type UsedArguments = {
  readonly needed: Set<string>;
  /** Those in values, where braces may mean themselves, are never missed. */
  readonly known: Set<string>;
};

/** What a template takes: what it declares, or in older files each name that its texts have in braces. */
function argumentsOf({ arguments: declared }: Template, { needed, known }: UsedArguments): TakenArguments {
  if (declared === undefined) {
    return { needed: [...needed].sort().map((name) => ({ name })), known: new Set([...needed, ...known]) };
  }
  return { needed: declared.filter(({ isRequired }) => isRequired), known: new Set(declared.map(({ name }) => name)) };
}

type TakenArguments = {
  readonly needed: readonly { readonly name: string; readonly description?: string }[];
  readonly known: ReadonlySet<string>;
};

function filledTemplate(template: Template, call: TemplateStep, { bindings, made, findings }: Expansion) {
  const used: UsedArguments = { needed: new Set(), known: new Set() };
  const fill = filler(
    {
      points: template.extensionPoints,
      bindings,
      argument: (name, use) => {
        const declared = template.arguments?.find((one) => one.name === name);
        if (template.arguments !== undefined && declared === undefined) return undefined;
        used[AS_IT_IS.has(use) ? 'known' : 'needed'].add(name);
        if (Object.hasOwn(call.args, name)) return call.args[name];
        return declared?.isRequired === false ? NOT_GIVEN : undefined;
      },
    },
    (problem) => findings.push({ ...problem, severity: 'error', at: call.callAt }),
  );
  const tree = mapObject(workflow.data, template, {
    place: (_, key) => (key === 'callAt' ? call.callAt : call.at),
    name: (name, role) => (RENAMED.has(role) ? `${call.id}--${name}` : name),
    text: (text, use, at) => {
      countExpansion(made, { kind: 'texts', amount: 1 }, { at: call.callAt, findings });
      if (isOverBudget(made)) return text;
      const filled = fill(text, use, at);
      const added = Math.max(0, filled.length - text.length);
      countExpansion(made, { kind: 'characters', amount: added }, { at: call.callAt, findings });
      return filled;
    },
  }) as Template;
  return { tree, used };
}

function bring(template: Template, call: TemplateStep, { brought }: Expansion): void {
  const { capabilities, metaGuidance, references, templateId: originId } = template;
  const at = `${call.callAt}/templateId`;
  brought.conditions.push(...template.conditions);
  brought.assessments.push(...template.assessments);
  const features = template.features.map((use) => ({ ...use, at, idAt: at }));
  brought.declarations.push({ at, originId, capabilities, features, metaGuidance, references });
}

function checkArguments(call: TemplateStep, { needed, known }: TakenArguments, findings: CompilerFinding[]): void {
  for (const { name, description } of needed.filter((one) => !Object.hasOwn(call.args, one.name))) {
    const what = description === undefined ? '' : ` (${description})`;
    const message = `The template "${call.templateId}" needs the argument "${name}"${what}. Add it to "args".`;
    findings.push({ code: 'missing_argument', severity: 'error', at: `${call.callAt}/args`, message });
  }
  for (const name of Object.keys(call.args).filter((one) => !known.has(one))) {
    findings.push(unknownArgument(call, name, [...known].sort()));
  }
}

export function unknownArgument(
  { templateId, callAt }: TemplateStep,
  name: string,
  known: readonly string[],
): CompilerFinding {
  const message = `The template "${templateId}" does not have an argument "${name}".`;
  const at = pointerTo(`${callAt}/args`, name);
  return { code: 'unknown_argument', severity: 'warning', at, message, unknown: { name, known, isKey: true } };
}

/** The functions of a template go with the steps that refer to them, unless a loop or step has one of the same name. */
function withFunctions(step: StepSyntax, functions: readonly FunctionSyntax[]): StepSyntax {
  if (step.kind !== 'standard' && step.kind !== 'loop') return step;
  const own = new Set(step.functions.map(({ name }) => name));
  const others = functions.filter(({ name }) => !own.has(name));
  if (step.kind === 'loop') {
    if (step.body.kind === 'reference') return step;
    return { ...step, body: { kind: 'steps', steps: step.body.steps.map((one) => withFunctions(one, others)) } };
  }
  const wanted = new Set([...step.functionReferences, ...step.functionCalls].map(({ name }) => name));
  return { ...step, functions: [...step.functions, ...others.filter(({ name }) => wanted.has(name))] };
}
