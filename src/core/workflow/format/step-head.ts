import { condition, confirmation } from './condition-fields.ts';
import { choice, defaulted, flag, ignored, needed, optional, text } from './field.ts';
import { ID_BYTES_MAX } from './limits.ts';
import type { StepHead } from './syntax.ts';

export const STEP_TYPES = ['standard', 'loop', 'template_call', 'parallel'] as const;

/** The fields that every kind of step has. */
export const STEP_HEAD = {
  id: needed(text(ID_BYTES_MAX, { use: 'label', form: 'safe_id', names: 'step' }), 'Its name in this file.', {
    otherwise: '',
  }),
  type: optional(choice(STEP_TYPES), 'What kind of step it is. A plain step needs none.'),
  title: needed(text(256, { use: 'prompt' }), 'What people see. It may contain `{{values}}` of context.', {
    otherwise: '',
  }),
  runCondition: optional(
    condition,
    'The step is skipped unless this [condition](#conditions) holds; it is evaluated when the step comes up.',
  ),
  requireConfirmation: defaulted(
    confirmation,
    '`true`, a condition, or a [gate](#gate): the agent asks before the run continues.',
    { as: 'confirmation', otherwise: { kind: 'none' } },
  ),
  notesOptional: defaulted(flag, 'Whether the step can be completed without notes.', {
    as: 'isNotesOptional',
    otherwise: false,
  }),
  modelTier: optional(ignored, 'Accepted without effect.'),
};

type HeadRead = {
  readonly at: string;
  readonly id: string;
  readonly title: string;
  readonly runCondition?: StepHead['runCondition'];
  readonly confirmation: StepHead['confirmation'];
  readonly isNotesOptional: boolean;
};

/** What every kind of step has in the tree. A condition that is always true is left out. */
export function headOf({ at, id, title, runCondition, confirmation: asked, isNotesOptional }: HeadRead): StepHead {
  const isAsked = runCondition !== undefined && runCondition.kind !== 'always';
  return { at, id, title, confirmation: asked, isNotesOptional, ...(isAsked ? { runCondition } : {}) };
}
