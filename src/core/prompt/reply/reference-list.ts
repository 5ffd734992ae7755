import type { JsonObject } from '../../json/json-value.ts';
import type { Lifecycle, ShownReference } from '../reply-parts.ts';

/** Whether whoever gets this reply may not know the workflow's documents yet, or no longer. */
export function areReferencesShown(lifecycle: Lifecycle): boolean {
  return lifecycle === 'start' || lifecycle === 'rehydrate';
}

/** The documents of a workflow: all about them at the start, later only where they are. */
export function referencesText(references: readonly ShownReference[], lifecycle: Lifecycle): string {
  const lines = references.map((reference) => {
    const { title, path, purpose, isAuthoritative, isResolved } = reference;
    const mark = isResolved ? '' : ' [unresolved]';
    if (lifecycle !== 'start') return `- ${title}${mark}: ${path}`;
    const weight = isAuthoritative ? ' (authoritative)' : '';
    return `- ${title}${weight}${mark}: ${path}${purpose === '' ? '' : `\n  ${purpose}`}`;
  });
  return ['Documents of this workflow:', ...lines].join('\n');
}

export function referencesData(references: readonly ShownReference[], lifecycle: Lifecycle): readonly JsonObject[] {
  return references.map(({ title, path, purpose, isAuthoritative, isResolved }) =>
    lifecycle === 'start'
      ? { title, path, purpose, authoritative: isAuthoritative, resolved: isResolved }
      : { title, path },
  );
}
