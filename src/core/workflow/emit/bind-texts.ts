import type { Bindings } from '../expand/expanded.ts';
import type { Finding } from '../finding.ts';
import type { ExtensionPoint } from '../syntax.ts';

const BINDING = /\{\{\s*wr\.bindings\.([A-Za-z0-9_.-]+)\s*\}\}/g;
const RESERVED = /\{\{\s*wr\.[^}]*\}?\}?/;

export type Binder = (text: string, at: string) => string;

/** Puts what the workspace chose, or else the default, into the places that a workflow leaves open. */
export function binder(points: readonly ExtensionPoint[], bindings: Bindings, findings: Finding[]): Binder {
  return (text, at) => {
    const bound = fillSlots(text, points, bindings);
    for (const [, slot = ''] of bound.matchAll(BINDING)) {
      const message = `There is no extension point "${slot}". Declare it in "extensionPoints".`;
      const unknown = { name: slot, known: points.map(({ slotId }) => slotId) };
      findings.push({ code: 'unknown_slot', severity: 'error', at, message, unknown });
    }
    const left = RESERVED.exec(bound.replaceAll(BINDING, ''));
    if (left !== null) {
      const message = `${left[0]} would reach the agent as it stands: only {{wr.bindings.…}} is filled in while compiling.`;
      findings.push({ code: 'placeholder_left', severity: 'error', at, message });
    }
    return bound;
  };
}

/** The text with the given extension points filled; others stay. */
export function fillSlots(text: string, points: readonly ExtensionPoint[], bindings: Bindings): string {
  return text.replaceAll(BINDING, (whole, slot: string) => {
    const declared = points.find(({ slotId }) => slotId === slot)?.default;
    if (declared === undefined) return whole;
    return Object.hasOwn(bindings, slot) ? (bindings[slot] ?? declared) : declared;
  });
}
