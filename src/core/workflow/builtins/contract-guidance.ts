import { describeShape, fieldNames, isRequired } from './shape/describe-shape.ts';
import { partOf, type Shape } from './shape.ts';

/** What an agent is told of a contract before it works. It is made from the schema, so the two cannot differ. */
export function contractGuidance(contract: {
  readonly artifactKind: string;
  readonly lead: string;
  readonly shape: Shape;
}): string {
  const { artifactKind, lead, shape } = contract;
  const lines = fieldNames(shape)
    .filter((name) => name !== 'kind')
    .map((name) => fieldLine(shape, name));
  return [`Hand in an artifact of kind ${artifactKind}: ${lead}`, ...lines].join('\n');
}

function fieldLine(shape: Shape, name: string): string {
  const field = partOf(partOf(shape, 'properties') ?? {}, name) ?? {};
  const presence = isRequired(shape, name) ? '' : ' (optional)';
  const meaning = typeof field['description'] === 'string' ? `; ${field['description']}` : '';
  return `- ${name}${presence}: ${describeShape(field)}${meaning}`;
}
