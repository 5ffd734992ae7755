import * as z from 'zod';
import { assert } from '../../assert.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Assessment, PinnedContract } from '../compiled/compiled-workflow.ts';
import { defineContract, nonEmptyText, pinnedContract } from './contract.ts';
import { ANY_CASE, partOf, type Shape } from './shape.ts';

const LEAD =
  'give one level for each dimension, based on what you saw. To add a reason, send {"level": "…", "rationale": "…"} in place of the level.';

const judgement = z.union([nonEmptyText, z.strictObject({ level: nonEmptyText, rationale: nonEmptyText.optional() })]);

/** The contract as such. What a step asks for depends on the assessments it refers to: see `assessmentContract`. */
export const assessmentArtifact = defineContract({
  name: 'assessment',
  purpose: 'Gives each dimension that the workflow declares one of its levels.',
  lead: LEAD,
  fields: () => ({
    assessmentId: nonEmptyText.optional().describe('required if the step asks for several assessments'),
    dimensions: z.record(z.string(), judgement).describe('one entry for each dimension, with one of its levels'),
    summary: nonEmptyText.optional(),
  }),
  example: {
    assessmentId: 'readiness',
    dimensions: { coverage: 'high', clarity: { level: 'low', rationale: '<what you saw>' } },
  },
  rendererHint: 'table',
});

/**
 * What a step asks for that refers to these assessments, each of an id of its own. With several, one artifact is due for
 * each, which names its assessment.
 */
export function assessmentContract(assessments: readonly Assessment[]): PinnedContract {
  const [first, ...others] = assessments;
  assert(first !== undefined, 'a step that asks for assessments names one');
  const isOneOfSeveral = others.length > 0;
  const shapes = assessments.map((declared) => declaredShape(declared, isOneOfSeveral));
  return {
    ...pinnedContract(assessmentArtifact),
    schema: isOneOfSeveral ? { oneOf: shapes } : { ...shapes[0] },
    example: exampleOf(first),
    guidance: declaredGuidance(assessments),
  };
}

/** Written as data, because it is made again for every attempt at a step; what does not vary comes from the contract. */
function declaredShape({ id, dimensions }: Assessment, isOneOfSeveral: boolean): Shape {
  const due = dimensions.filter(({ isRequired }) => isRequired).map((dimension) => dimension.id);
  return {
    ...assessmentArtifact.shape,
    properties: {
      ...partOf(assessmentArtifact.shape, 'properties'),
      assessmentId: { const: id, type: 'string' },
      dimensions: {
        additionalProperties: false,
        properties: Object.fromEntries(dimensions.map((dimension) => [dimension.id, levelsShape(dimension.levels)])),
        required: due.toSorted(),
        type: 'object',
      },
    },
    required: isOneOfSeveral ? ['assessmentId', 'dimensions', 'kind'] : ['dimensions', 'kind'],
  };
}

function levelsShape(levels: readonly string[]): Shape {
  const level = { enum: levels, type: 'string', [ANY_CASE]: true };
  const withReason = {
    additionalProperties: false,
    properties: { level, rationale: { minLength: 1, type: 'string' } },
    required: ['level'],
    type: 'object',
  };
  return { anyOf: [level, withReason] };
}

function exampleOf({ id, dimensions }: Assessment): JsonObject {
  const due = dimensions.filter(({ isRequired }) => isRequired);
  const shown = due.length > 0 ? due : dimensions.slice(0, 1);
  const levels = Object.fromEntries(shown.map((dimension) => [dimension.id, dimension.levels[0] ?? '']));
  return { kind: assessmentArtifact.artifactKind, assessmentId: id, dimensions: levels };
}

/** Not cut to a budget: an agent must see every dimension it will be asked for. */
function declaredGuidance(assessments: readonly Assessment[]): string {
  const head =
    assessments.length === 1
      ? `An artifact of kind ${assessmentArtifact.artifactKind}: ${LEAD}`
      : `${assessments.length} artifacts of kind ${assessmentArtifact.artifactKind}, one for each assessmentId: ${LEAD}`;
  return [head, ...assessments.flatMap(assessmentLines)].join('\n');
}

function assessmentLines({ id, purpose, dimensions }: Assessment): readonly string[] {
  return [
    `- assessmentId: ${id}${purpose === '' ? '' : ` (${purpose})`}`,
    '  dimensions:',
    ...dimensions.map((dimension) => {
      const presence = dimension.isRequired ? '' : ' (optional)';
      const meaning = dimension.purpose === '' ? '' : `; ${dimension.purpose}`;
      return `  - ${dimension.id}${presence}: ${dimension.levels.join(' | ')}${meaning}`;
    }),
  ];
}
