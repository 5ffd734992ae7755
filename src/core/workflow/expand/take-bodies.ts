import type { CompilerFinding } from '../finding.ts';
import type { LoopStep, StepSyntax } from '../format/syntax.ts';

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
  const message = `There is no step "${step.body.stepId}" beside this loop that could be its body. Name one, or write the steps into "body".`;
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
  return isByReference(step) ? [step.body.stepId] : [];
}

type ByReference = LoopStep & { readonly body: { readonly kind: 'reference' } };

function isByReference(step: StepSyntax): step is ByReference {
  return step.kind === 'loop' && step.body.kind === 'reference';
}
