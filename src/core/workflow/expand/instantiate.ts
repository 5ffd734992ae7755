import { fillSlots, grownTooLong } from '../emit/bind-texts.ts';
import { fillText } from '../fill-text.ts';
import type { BlockText, FunctionSyntax, StandardStep, StepSyntax, TemplateStep } from '../syntax.ts';
import type { Expansion, Template } from './expanded.ts';
import { renamedCondition, renamedConditions } from './rename-conditions.ts';

/** `{name}`, but not the `{{name}}` of a context value. */
const ARGUMENT = /(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})/g;

/**
 * The steps of a template for one call: arguments in their places, and all its ids under the call's id, so that two
 * calls never meet. Conditions and assessments of the template come along under their new ids.
 */
export function instantiate(template: Template, call: TemplateStep, expansion: Expansion): readonly StepSyntax[] {
  const used = new Set<string>();
  const fill = (text: string) => {
    const bound = fillSlots(text, template.extensionPoints, expansion.bindings);
    const filled =
      bound === undefined
        ? undefined
        : fillText(bound, ARGUMENT, (whole, name) => {
            used.add(name);
            return Object.hasOwn(call.args, name) ? (call.args[name] ?? whole) : whole;
          });
    if (filled === undefined) expansion.findings.push(grownTooLong(call.callAt));
    return filled ?? text;
  };
  const made = {
    at: call.at,
    callAt: call.callAt,
    rename: (id: string) => `${call.id}--${id}`,
    fill,
    agentRole: template.agentRole,
    functions: template.functions,
  };
  const steps = template.steps.map((step) => instance(step, made));
  bringDeclarations(template, made, expansion);
  checkArguments(template, call, { used, findings: expansion.findings });
  return steps;
}

type Instance = {
  readonly at: string;
  readonly callAt: string;
  readonly rename: (id: string) => string;
  readonly fill: (text: string) => string;
  readonly agentRole: string | undefined;
  /** The template's own functions, as far as they are not hidden by a loop's. */
  readonly functions: readonly FunctionSyntax[];
};

function bringDeclarations(template: Template, { at, rename }: Instance, { brought }: Expansion): void {
  for (const { conditionId, condition } of template.conditions) {
    const renamed = renamedCondition(condition, rename);
    brought.conditions.push({ at, conditionId: rename(conditionId), condition: renamed });
  }
  for (const assessment of template.assessments)
    brought.assessments.push({ ...assessment, at, id: rename(assessment.id) });
}

function checkArguments(
  template: Template,
  call: TemplateStep,
  { used, findings }: { readonly used: ReadonlySet<string>; readonly findings: Expansion['findings'] },
): void {
  for (const name of [...used].filter((one) => !Object.hasOwn(call.args, one)).sort()) {
    const message = `The template "${template.templateId}" needs the argument "${name}". Add it to "args".`;
    findings.push({ code: 'missing_argument', severity: 'error', at: `${call.callAt}/args`, message });
  }
  for (const name of Object.keys(call.args).filter((one) => !used.has(one))) {
    const message = `The template "${template.templateId}" has no argument "${name}".`;
    const at = `${call.callAt}/args/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const unknown = { name, known: [...used], isKey: true };
    findings.push({ code: 'unknown_argument', severity: 'warning', at, message, unknown });
  }
}

/** What goes wrong inside a template is told at its call: that is the file the author has open. */
function instance(step: StepSyntax, made: Instance): StepSyntax {
  const { at, rename, fill } = made;
  const head = { id: rename(step.id), at, title: fill(step.title) };
  const renamed = renamedConditions(step, rename);
  switch (renamed.kind) {
    case 'standard':
      return { ...filled(renamed, made), ...head };
    case 'loop': {
      const hidden = new Set(renamed.functions.map(({ name }) => name));
      const inner = { ...made, functions: made.functions.filter(({ name }) => !hidden.has(name)) };
      const own = renamed.loopId === undefined ? {} : { loopId: rename(renamed.loopId) };
      const loopId = { ...own, loopIdAt: at };
      const functions = renamed.functions.map((one) => ({ ...one, at, definition: fill(one.definition) }));
      const body =
        renamed.body.kind === 'steps'
          ? { kind: 'steps' as const, steps: renamed.body.steps.map((one) => instance(one, inner)) }
          : { ...renamed.body, stepId: rename(renamed.body.stepId), at };
      return { ...renamed, ...head, ...loopId, functions, body };
    }
    case 'template': {
      const args = Object.fromEntries(Object.entries(renamed.args).map(([name, value]) => [name, fill(value)]));
      return { ...renamed, ...head, callAt: made.callAt, templateId: fill(renamed.templateId), args };
    }
    case 'parallel':
      return { ...renamed, ...head, ...filledDelegations(renamed, made) };
  }
}

function filled(step: StandardStep, made: Instance): StandardStep {
  const { at, fill, rename } = made;
  const { prompt, verification, audit, userDependency } = step;
  const agentRole = step.agentRole ?? made.agentRole;
  const own = new Set(step.functions.map(({ name }) => name));
  const wanted = new Set(step.functionReferences.map(({ name }) => name));
  const needed = made.functions.filter(({ name }) => wanted.has(name) && !own.has(name));
  return {
    ...step,
    prompt: prompt.kind === 'text' ? { kind: 'text', text: fill(prompt.text) } : filledBlocks(prompt, made),
    guidance: step.guidance.map(fill),
    fragments: step.fragments.map((fragment) => ({ ...fragment, at, text: fill(fragment.text) })),
    functions: [...step.functions, ...needed].map((one) => ({ ...one, at, definition: fill(one.definition) })),
    functionReferences: step.functionReferences.map((one) => ({ ...one, at })),
    assessmentRefs: step.assessmentRefs.map(({ id }) => ({ at, id: rename(id) })),
    consequences: step.consequences.map(({ forAssessment, ...one }) => ({
      ...one,
      at,
      guidance: fill(one.guidance),
      ...(forAssessment === undefined ? {} : { forAssessment: rename(forAssessment) }),
    })),
    ...(agentRole === undefined ? {} : { agentRole: fill(agentRole) }),
    ...(step.output === undefined ? {} : { output: { ...step.output, at } }),
    ...(userDependency === undefined
      ? {}
      : { userDependency: { ...userDependency, prompt: fill(userDependency.prompt) } }),
    ...(verification === undefined ? {} : { verification: filledTexts(verification, fill) }),
    ...(audit === undefined ? {} : { audit: { ...filledTexts(audit, fill), rubric: audit.rubric.map(fill) } }),
  };
}

type Parallel = Extract<StepSyntax, { kind: 'parallel' }>;

function filledDelegations(
  { delegations, synthesis, ...step }: Parallel,
  made: Instance,
): Pick<Parallel, 'delegations'> {
  const { at, fill } = made;
  const agentRole = step.agentRole ?? made.agentRole;
  const parts = {
    ...(agentRole === undefined ? {} : { agentRole: fill(agentRole) }),
    ...(synthesis === undefined ? {} : { synthesis: filledTexts(synthesis, fill) }),
  };
  return { ...parts, delegations: delegations.map((one) => ({ ...filledTexts(one, fill), at })) };
}

/** The texts of a shorthand that an agent will read. */
function filledTexts<Texts extends { readonly prompt?: string; readonly command?: string; readonly goal?: string }>(
  texts: Texts,
  fill: (text: string) => string,
): Texts {
  return {
    ...texts,
    ...(texts.prompt === undefined ? {} : { prompt: fill(texts.prompt) }),
    ...(texts.command === undefined ? {} : { command: fill(texts.command) }),
    ...(texts.goal === undefined ? {} : { goal: fill(texts.goal) }),
  };
}

type Blocks = Extract<StandardStep['prompt'], { kind: 'blocks' }>;

function filledBlocks(blocks: Blocks, { at, fill }: Instance): Blocks {
  const fillText = (text: BlockText) =>
    text.map((part) => (part.kind === 'text' ? { ...part, text: fill(part.text) } : { ...part, at }));
  return {
    kind: 'blocks',
    ...(blocks.goal === undefined ? {} : { goal: fillText(blocks.goal) }),
    constraints: blocks.constraints.map(fillText),
    procedure: blocks.procedure.map(fillText),
    outputRequired: blocks.outputRequired.map(({ name, text }) => ({ name, text: fillText(text) })),
    verify: blocks.verify.map(fillText),
  };
}
