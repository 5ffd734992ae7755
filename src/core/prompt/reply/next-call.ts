import { hole } from '../../log/operation/stored-reply.ts';
import { exampleNotesAt } from '../../run/requirements/check-notes.ts';
import { mergedExample } from '../../run/requirements/merged-example.ts';
import type { ExampleOutput } from '../../run/requirements/step-check.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { isOfUser, type RenderedStep } from '../step/render-step.ts';
import type { Call } from './call-text.ts';

/** The call that reports the step: what it asks for and nothing else, so that it is accepted as it stands. */
export function reportCall({ place, requirements, lacking }: RenderedStep): Call {
  if (place.facts.preferences.autonomy !== 'full_auto_never_stop') return callWith(mergedExample(lacking));
  // Nobody is asked in this mode, so no example may speak for the user.
  const own = mergedExample(lacking.filter((unmet) => !isOfUser(unmet)));
  const isAnswer = (kind: string) => kind === 'approval' || kind === 'user_dependency';
  const notes = () =>
    exampleNotesAt(
      place,
      requirements.filter(({ kind }) => !isAnswer(kind)),
    );
  return callWith(own.notesMarkdown === undefined ? own : { ...own, notesMarkdown: notes() });
}

/**
 * The call that brings what an attempt lacked; the rest is kept and need not be sent again. Where no call from here can,
 * it leads to where one can: a stored reply cannot hold the token of that place, so there it takes a look first.
 */
export function correctedCall({ unmet, wayBack }: Omit<NonNullable<ReplyParts['blocked']>, 'blockers'>): Call {
  const isMendable = unmet.some(({ example }) => example !== undefined);
  if (isMendable || !unmet.some((one) => one.wayBack !== undefined)) return callWith(mergedExample(unmet));
  return { tool: 'continue_workflow', arguments: { stateToken: wayBack ?? hole('stateToken') } };
}

function callWith({ notesMarkdown, artifacts, context }: ExampleOutput): Call {
  const output = {
    ...(notesMarkdown === undefined ? {} : { notesMarkdown }),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
  return {
    tool: 'continue_workflow',
    arguments: {
      ackToken: hole('ackToken'),
      ...(Object.keys(output).length === 0 ? {} : { output }),
      ...(context === undefined ? {} : { context }),
    },
  };
}
