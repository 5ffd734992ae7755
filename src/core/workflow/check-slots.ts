import type { CompileInput } from './compile-workflow.ts';
import type { CompilerFinding } from './finding.ts';
import { LEGACY_ID, NAMESPACED_ID } from './format/limits.ts';
import type { ExtensionPoint } from './format/syntax.ts';

/** What a workspace and a catalog offer to put into extension points. */
type Offered = Pick<CompileInput, 'bindings' | 'templates' | 'broken'>;

/** Checks that what goes into an extension point is of a kind that it accepts. */
export function checkSlots(points: readonly ExtensionPoint[], offered: Offered, findings: CompilerFinding[]): void {
  for (const { at, slotId, acceptedKinds, default: fallback } of points) {
    if (acceptedKinds.length === 0) continue;
    const bound = Object.hasOwn(offered.bindings, slotId) ? offered.bindings[slotId] : undefined;
    const value = bound ?? fallback;
    if (acceptedKinds.some((kind) => isOfKind(value, kind, offered))) continue;
    const wanted = acceptedKinds.map((kind) => KIND_WORDS[kind]).join(' or ');
    if (bound !== undefined) {
      const message = `The workspace puts "${bound}" into "${slotId}", which takes ${wanted}. Mend .workrail/bindings.json.`;
      findings.push({ code: 'wrong_kind', severity: 'error', at: `${at}/acceptedKinds`, message });
      continue;
    }
    const message = `"${slotId}" takes ${wanted}, and its default is none.`;
    const unknown = acceptedKinds.includes('routine')
      ? { unknown: { name: value, known: [...offered.templates.keys()].sort() } }
      : {};
    findings.push({ code: 'wrong_kind', severity: 'error', at: `${at}/default`, message, ...unknown });
  }
}

type SlotKind = ExtensionPoint['acceptedKinds'][number];

const KIND_WORDS: { readonly [kind in SlotKind]: string } = {
  text: 'a text',
  routine: 'the template id of a routine',
  workflow: 'the id of a workflow',
};

/** A routine that is broken is one all the same; what is wrong with it is told where it is called. */
function isOfKind(value: string, kind: SlotKind, { templates, broken }: Offered): boolean {
  switch (kind) {
    case 'text':
      return true;
    case 'routine':
      return templates.has(value) || broken?.has(value) === true;
    case 'workflow':
      return NAMESPACED_ID.test(value) || LEGACY_ID.test(value);
  }
}
