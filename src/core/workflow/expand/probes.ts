import { CAPABILITIES, type Capability } from '../../log/capabilities.ts';
import { capabilityProbe } from '../builtins/templates/capability-probe.ts';
import type { CompilerFinding } from '../finding.ts';
import type { TemplateStep } from '../format/syntax.ts';
import type { ExpandedEntry } from './expanded.ts';
import { plainStep } from './generated-steps.ts';
import { unknownArgument } from './instantiate.ts';
import type { Needs } from './merge-declarations.ts';

/** The probes that required capabilities put before everything else. */
export function requiredProbes(needs: Needs): readonly ExpandedEntry[] {
  return CAPABILITIES.flatMap((capability) => {
    const needed = needs[capability];
    return needed?.need === 'required' ? [probe(capability, { id: `wr_probe_${capability}`, at: needed.at })] : [];
  });
}

/** A probe that an author asked for by name. */
export function probeCall(call: TemplateStep, findings: CompilerFinding[]): readonly ExpandedEntry[] {
  const given = call.args['capability'];
  const capability = CAPABILITIES.find((one) => one === given);
  const others = Object.keys(call.args).filter((name) => name !== 'capability');
  findings.push(...others.map((name) => unknownArgument(call, name, ['capability'])));
  if (capability !== undefined) return [probe(capability, call)];
  const at = `${call.callAt}/args/capability`;
  if (given === undefined) {
    const message = `The template "${call.templateId}" needs the argument "capability": ${CAPABILITIES.join(' or ')}.`;
    findings.push({ code: 'missing_argument', severity: 'error', at, message });
  } else {
    const unknown = { name: given, known: CAPABILITIES };
    const message = `There is no capability "${given}".`;
    findings.push({ code: 'wrong_value', severity: 'error', at, message, unknown });
  }
  return [];
}

function probe(capability: Capability, { id, at }: Pick<TemplateStep, 'id' | 'at'>): ExpandedEntry {
  const { title, prompt } = capabilityProbe.steps[capability];
  const { templateId, contractRef } = capabilityProbe;
  return {
    kind: 'step',
    step: {
      syntax: {
        ...plainStep({ id, at }, 'probe', title),
        id,
        isNotesOptional: true,
        prompt: { kind: 'text', text: prompt },
        output: { at, contractRef, isRequired: true, hints: [] },
      },
      provenance: { source: 'template_injected', originId: templateId },
      purpose: { kind: 'probe', capability, templateId },
    },
  };
}
