import type { ReplyParts } from '../reply-parts.ts';
import type { Outline } from './assemble-reply.ts';
import { replySections } from './reply-sections.ts';

/** What is told of a session that only keeps notes: there is no step, and there always is room for one more note. */
export function notesOutline(parts: ReplyParts): Outline {
  const opening = parts.lifecycle === 'checkpoint' ? 'Saved.' : 'This session keeps notes; it has no steps.';
  return {
    kind: 'ok',
    sections: [[opening], ...replySections(parts)],
    standing: 'notes only',
    pending: null,
    nextIntent: 'complete',
    nextCall: undefined,
    isCallOnTop: false,
    advice: 'Save a note whenever you have found or decided something that must outlive this chat.',
    warnings: [],
    gaps: parts.gaps,
  };
}

export function keepsNotesOnly({ index }: ReplyParts): boolean {
  return index.workflow.steps.length === 0;
}
