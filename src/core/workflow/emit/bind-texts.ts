import type { Bindings } from '../expand/expanded.ts';
import { FILLED_LENGTH_MAX, fillText } from '../fill-text.ts';
import type { Finding } from '../finding.ts';
import type { ExtensionPoint } from '../syntax.ts';

const BINDING = /\{\{\s*wr\.bindings\.([A-Za-z0-9_.-]+)\s*\}\}/g;
const RESERVED = /\{\{\s*wr\.[^}]*\}?\}?/;

export type Binder = (text: string, at: string) => string;

/** Puts what the workspace chose, or else the default, into the places that a workflow leaves open. */
export function binder(points: readonly ExtensionPoint[], bindings: Bindings, findings: Finding[]): Binder {
  return (text, at) => {
    const bound = fillSlots(text, points, bindings);
    if (bound === undefined) {
      findings.push(grownTooLong(at));
      return text;
    }
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

/** The text with the given extension points filled; others stay. `undefined` when it would grow beyond all measure. */
export function fillSlots(text: string, points: readonly ExtensionPoint[], bindings: Bindings): string | undefined {
  return fillText(text, BINDING, (whole, slot) => {
    const declared = points.find(({ slotId }) => slotId === slot)?.default;
    if (declared === undefined) return whole;
    return Object.hasOwn(bindings, slot) ? (bindings[slot] ?? declared) : declared;
  });
}

/** Told where a text would not stop growing. */
export function grownTooLong(at: string): Finding {
  const message = `With everything filled in, this text would have more than ${FILLED_LENGTH_MAX} characters. Put less into it.`;
  return { code: 'text_too_long', severity: 'error', at, message };
}
