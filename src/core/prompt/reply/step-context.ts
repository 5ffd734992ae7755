import type { JsonObject } from '../../json/json-value.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { oneLine } from '../reserved-lines.ts';

type Told = Pick<ReplyParts, 'assessments'>;
type Accepted = NonNullable<ReplyParts['assessments']>['accepted'][number];

/** Facts about the step just done; absent when it recorded none. */
export function stepContextData({ assessments }: Told): { readonly stepContext?: JsonObject } {
  if (assessments === undefined) return {};
  const [first, ...others] = assessments.accepted.map(assessmentData);
  if (first === undefined) return {};
  return { stepContext: { assessments: assessments.isOneOfSeveral ? [first, ...others] : first } };
}

export function stepContextLines({ assessments }: Told): readonly string[] {
  return (assessments?.accepted ?? []).map(({ assessmentId, dimensions, normalizationNotes }) => {
    const levels = dimensions.map(({ dimensionId, level }) => `${dimensionId} ${level}`).join(', ');
    return oneLine([`Accepted: ${assessmentId}: ${levels}.`, ...normalizationNotes].join(' '));
  });
}

function assessmentData({ assessmentId, dimensions, normalizationNotes }: Accepted): JsonObject {
  return {
    assessmentId,
    dimensions: dimensions.map(({ dimensionId, level, rationale }) => ({
      dimensionId,
      level,
      ...(rationale === undefined ? {} : { rationale }),
    })),
    normalizationNotes,
  };
}
