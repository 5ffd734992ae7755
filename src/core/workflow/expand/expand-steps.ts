import { capabilityProbe } from '../builtins/templates.ts';
import type { Condition } from '../compiled/condition.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { LoopStep, ParallelStep, StandardStep, StepSyntax, TemplateStep } from '../format/step-fields.ts';
import {
  brokenTemplate,
  countExpansion,
  type ExpandedEntry,
  type ExpandedStep,
  type Expansion,
  isOverBudget,
} from './expanded.ts';
import { delegationStep, followUps, probeCall, synthesisStep } from './generated-steps.ts';
import { instantiate } from './instantiate.ts';
import { withOpening, withRole, withSettings } from './shared-settings.ts';

export const CALLS_DEEP_MAX = 8;

/** Where expansion has got to: which templates it is inside of, and where the outermost was called. */
type Site = {
  readonly calls: readonly string[];
  readonly provenance: ExpandedStep['provenance'];
};

const AUTHORED: Site = { calls: [], provenance: { source: 'authored' } };

/** Replaces template calls, parallel steps and shorthands by the steps they stand for, each at its place. */
export function expandSteps(steps: readonly StepSyntax[], expansion: Expansion): readonly ExpandedEntry[] {
  return expandAt(steps, AUTHORED, expansion);
}

function expandAt(steps: readonly StepSyntax[], site: Site, expansion: Expansion): readonly ExpandedEntry[] {
  return takeBodies(steps, expansion.findings).flatMap((step) => expandStep(step, site, expansion));
}

function expandStep(step: StepSyntax, site: Site, expansion: Expansion): readonly ExpandedEntry[] {
  const { made, findings } = expansion;
  countExpansion(made, { kind: step.kind === 'template' ? 'calls' : 'steps', amount: 1 }, { at: step.at, findings });
  if (isOverBudget(made)) return [];
  switch (step.kind) {
    case 'standard':
      return withFollowers(stepEntry(step, site), followUps(step), site);
    case 'parallel':
      return expandParallel(step, site);
    case 'loop':
      return [expandLoop(step, site, expansion)];
    case 'template':
      return guarded(withSettings(expandCall(step, site, expansion), step, expansion.brought), step.runCondition);
  }
}

function expandParallel(step: ParallelStep, site: Site): readonly ExpandedEntry[] {
  const delegations = step.delegations.map(({ at: _, ...delegation }) => ({
    ...delegation,
    allowedTools: [...delegation.allowedTools],
  }));
  const entry = stepEntry(delegationStep(step), site);
  const synthesis = synthesisStep(step);
  return withFollowers(
    { ...entry, step: { ...entry.step, purpose: { kind: 'delegation', delegations } } },
    synthesis === undefined ? [] : [synthesis],
    site,
  );
}

type StepEntry = Extract<ExpandedEntry, { kind: 'step' }>;

function stepEntry(syntax: StandardStep, { provenance }: Site): StepEntry {
  return { kind: 'step', step: { syntax, provenance, purpose: { kind: 'work' } } };
}

/** Whether a step is done is decided once, for what follows from it as well. */
function withFollowers(entry: StepEntry, followers: readonly StandardStep[], site: Site): readonly ExpandedEntry[] {
  if (followers.length === 0) return [entry];
  const { runCondition, ...syntax } = entry.step.syntax;
  const first = { ...entry, step: { ...entry.step, syntax } };
  return guarded([first, ...followers.map((step) => stepEntry(step, site))], runCondition);
}

function expandLoop(step: LoopStep, site: Site, expansion: Expansion): ExpandedEntry {
  const { body, kind: _, confirmation, isNotesOptional, ...loop } = step;
  const inside = expandAt(body.kind === 'steps' ? body.steps : [], site, expansion);
  const settled = withSettings(inside, { confirmation, isNotesOptional }, expansion.brought);
  return { kind: 'loop', loop: { ...loop, loopId: loop.loopId ?? loop.id, body: settled } };
}

function expandCall(call: TemplateStep, site: Site, expansion: Expansion): readonly ExpandedEntry[] {
  const { templateId } = call;
  if (templateId === capabilityProbe.templateId) return probeCall(call, expansion.findings);
  const template = expansion.templates.get(templateId);
  const problem = template === undefined ? unknownTemplate(call, expansion) : badCall(call, site);
  if (template === undefined || problem !== undefined) {
    if (problem !== undefined)
      expansion.findings.push({ ...problem, severity: 'error', at: `${call.callAt}/templateId` });
    return [];
  }
  expansion.called.add(templateId);
  const instance = instantiate(template, call, expansion);
  const inner: Site = {
    calls: [...site.calls, templateId],
    provenance: { source: 'template_injected', originId: templateId },
  };
  const entries = withRole(expandAt(instance.steps, inner, expansion), instance.agentRole);
  return withOpening(entries, instance, { call, brought: expansion.brought });
}

type Problem = Pick<CompilerFinding, 'code' | 'message' | 'unknown'>;

function unknownTemplate({ templateId }: TemplateStep, { templates, broken }: Expansion): Problem {
  const reason = broken.get(templateId);
  if (reason !== undefined) return brokenTemplate(templateId, reason);
  const known = [capabilityProbe.templateId, ...templates.keys()].sort();
  const message = `Unknown template "${templateId}".`;
  return { code: 'unknown_template', message, unknown: { name: templateId, known } };
}

function badCall({ templateId }: TemplateStep, { calls }: Site): Problem | undefined {
  const path = [...calls, templateId].join(' → ');
  if (calls.includes(templateId)) {
    return {
      code: 'template_recursion',
      message: `These templates call each other in a circle: ${path}. Remove one of the calls.`,
    };
  }
  if (calls.length < CALLS_DEEP_MAX) return undefined;
  const message = `Templates may call each other ${CALLS_DEEP_MAX} levels deep; this is one more: ${path}. Call the inner ones directly.`;
  return { code: 'template_too_deep', message };
}

type Siblings = ReadonlyMap<string, StepSyntax>;

/** Puts steps that loops name as their body where they belong, and takes them out of the ordinary order. */
export function takeBodies(steps: readonly StepSyntax[], findings: CompilerFinding[]): readonly StepSyntax[] {
  const siblings: Siblings = new Map(steps.map((step) => [step.id, step]));
  const taken = new Set(steps.flatMap((step) => (isBodyKnown(step, siblings) ? bodyReference(step) : [])));
  return steps.filter(({ id }) => !taken.has(id)).map((step) => withBody(step, siblings, findings));
}

function withBody(step: StepSyntax, siblings: Siblings, findings: CompilerFinding[]): StepSyntax {
  if (step.kind !== 'loop' || step.body.kind === 'steps') return step;
  const body = isBodyKnown(step, siblings) ? siblings.get(step.body.stepId) : undefined;
  if (body !== undefined) return { ...step, body: { kind: 'steps', steps: [withBody(body, siblings, findings)] } };
  const message = `"${step.body.stepId}" is not a step next to this loop, so it cannot be its body. Name one, or write the steps in "body".`;
  const known = [...siblings.values()].filter(({ kind }) => kind !== 'loop').map(({ id }) => id);
  const unknown = { name: step.body.stepId, known };
  findings.push({ code: 'body_not_found', severity: 'error', at: step.body.at, message, unknown });
  return { ...step, body: { kind: 'steps', steps: [] } };
}

/** A body that leads back to its own loop is none: the steps would contain themselves. */
function isBodyKnown(loop: StepSyntax, siblings: Siblings): boolean {
  const seen = new Set([loop.id]);
  let [next] = bodyReference(loop);
  while (next !== undefined) {
    const body = siblings.get(next);
    // A body that is missing further down is that loop's affair.
    if (body === undefined) return seen.size > 1;
    if (seen.has(next)) return false;
    seen.add(next);
    [next] = bodyReference(body);
  }
  return true;
}

function bodyReference(step: StepSyntax): readonly string[] {
  return step.kind === 'loop' && step.body.kind === 'reference' ? [step.body.stepId] : [];
}

/** The entries under a condition that is decided on the way into the first of them, for all. */
function guarded(entries: readonly ExpandedEntry[], condition: Condition | undefined): readonly ExpandedEntry[] {
  const [first, ...others] = entries;
  if (first === undefined || condition === undefined) return entries;
  return [{ ...first, guards: [{ condition, entries: entries.length }, ...(first.guards ?? [])] }, ...others];
}
