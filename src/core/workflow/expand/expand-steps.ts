import { capabilityProbe } from '../builtins/templates/capability-probe.ts';
import type { Finding } from '../finding.ts';
import type { LoopStep, ParallelStep, StandardStep, StepSyntax, TemplateStep } from '../syntax.ts';
import { delegationStep, synthesisStep } from './delegation-steps.ts';
import { both, type ExpandedEntry, type ExpandedStep, type Expansion } from './expanded.ts';
import { followUps } from './follow-ups.ts';
import { instantiate } from './instantiate.ts';
import { probeCall } from './probes.ts';
import { takeBodies } from './take-bodies.ts';

const CALLS_DEEP_MAX = 8;
/** What one compiled workflow may have; templates that call templates multiply. */
const STEPS_MAX = 1000;

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
  if (isOverLimit(step, expansion)) return [];
  switch (step.kind) {
    case 'standard':
      return [stepEntry(step, site), ...followUps(step).map((extra) => stepEntry(extra, site))];
    case 'parallel':
      return expandParallel(step, site);
    case 'loop':
      return [expandLoop(step, site, expansion)];
    case 'template':
      return expandCall(step, site, expansion);
  }
}

/** Counts a step or a call. The first one too many is reported, the others need not be. */
function isOverLimit({ at, kind }: StepSyntax, { made, findings }: Expansion): boolean {
  const counted = kind === 'template' ? 'calls' : 'steps';
  made[counted] += 1;
  if (made[counted] === STEPS_MAX + 1) {
    const message = `With this the workflow has more than ${STEPS_MAX} ${counted}, those of its templates included.`;
    findings.push({ code: 'too_many_steps', severity: 'error', at, message });
  }
  return made.calls > STEPS_MAX || made.steps > STEPS_MAX;
}

function expandParallel(step: ParallelStep, site: Site): readonly ExpandedEntry[] {
  const delegations = step.delegations.map(({ at: _, ...delegation }) => ({
    ...delegation,
    allowedTools: [...delegation.allowedTools],
  }));
  const delegation: ExpandedEntry = {
    kind: 'step',
    step: {
      syntax: delegationStep(step),
      provenance: site.provenance,
      purpose: { kind: 'delegation', delegations },
    },
  };
  const synthesis = synthesisStep(step);
  return synthesis === undefined ? [delegation] : [delegation, stepEntry(synthesis, site)];
}

function stepEntry(syntax: StandardStep, { provenance }: Site): ExpandedEntry {
  return { kind: 'step', step: { syntax, provenance, purpose: { kind: 'work' } } };
}

function expandLoop({ body, kind: _, ...loop }: LoopStep, site: Site, expansion: Expansion): ExpandedEntry {
  const steps = body.kind === 'steps' ? body.steps : [];
  return { kind: 'loop', loop: { ...loop, loopId: loop.loopId ?? loop.id, body: expandAt(steps, site, expansion) } };
}

function expandCall(written: TemplateStep, site: Site, expansion: Expansion): readonly ExpandedEntry[] {
  const call = { ...written, templateId: expansion.bind(written.templateId, `${written.callAt}/templateId`) };
  if (call.templateId === capabilityProbe.templateId) return probeCall(call, expansion.findings);
  const template = expansion.templates.get(call.templateId);
  if (template === undefined) return refuse(call, expansion, unknownTemplate(call, expansion));
  if (site.calls.includes(call.templateId) || site.calls.length >= CALLS_DEEP_MAX) {
    const path = [...site.calls, call.templateId].join(' → ');
    return refuse(call, expansion, { code: 'template_recursion', message: `Templates call each other: ${path}.` });
  }
  const steps = instantiate(template, call, expansion);
  const entries = expandAt(
    steps,
    {
      calls: [...site.calls, call.templateId],
      provenance: { source: 'template_injected', originId: call.templateId },
    },
    expansion,
  );
  return withConfirmation(entries, call).map((entry) => underCall(entry, call));
}

/** The condition of a call holds for all that it stands for. */
function underCall(entry: ExpandedEntry, call: TemplateStep): ExpandedEntry {
  const own = entry.kind === 'step' ? entry.step.syntax.runCondition : entry.loop.runCondition;
  const runCondition = both(call.runCondition, own);
  if (runCondition === undefined) return entry;
  if (entry.kind === 'loop') return { kind: 'loop', loop: { ...entry.loop, runCondition } };
  return { kind: 'step', step: { ...entry.step, syntax: { ...entry.step.syntax, runCondition } } };
}

/** The confirmation of a call is asked for at its last step, also when that stands in a loop. */
function withConfirmation(entries: readonly ExpandedEntry[], call: TemplateStep): readonly ExpandedEntry[] {
  const last = entries.at(-1);
  if (last === undefined || call.confirmation.kind === 'none') return entries;
  return [...entries.slice(0, -1), confirmed(last, call)];
}

function confirmed(entry: ExpandedEntry, call: TemplateStep): ExpandedEntry {
  if (entry.kind === 'loop') {
    return { kind: 'loop', loop: { ...entry.loop, body: withConfirmation(entry.loop.body, call) } };
  }
  const syntax = { ...entry.step.syntax, confirmation: call.confirmation };
  return { kind: 'step', step: { ...entry.step, syntax } };
}

function unknownTemplate(call: TemplateStep, { templates }: Expansion) {
  const known = [capabilityProbe.templateId, ...templates.keys()].sort();
  return {
    code: 'unknown_template' as const,
    message: `There is no template "${call.templateId}".`,
    unknown: { name: call.templateId, known },
  };
}

function refuse(
  call: TemplateStep,
  { findings }: Expansion,
  problem: Pick<Finding, 'code' | 'message' | 'unknown'>,
): readonly ExpandedEntry[] {
  findings.push({ ...problem, severity: 'error', at: `${call.callAt}/templateId` });
  return [];
}
