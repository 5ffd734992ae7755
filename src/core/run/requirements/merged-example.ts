import { canonicalJson } from '../../json/canonical-json.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { ExampleOutput, Unmet } from './step-check.ts';

/** One output that holds the examples of everything that is unmet; each part only where something asks for it. */
export function mergedExample(unmet: readonly Unmet[]): ExampleOutput {
  const examples = unmet.flatMap(({ example }) => example ?? []);
  const notesMarkdown = examples.find((example) => example.notesMarkdown !== undefined)?.notesMarkdown;
  const artifacts = once(examples.flatMap((example) => example.artifacts ?? []));
  const context: JsonObject = Object.assign({}, ...examples.map((example) => example.context ?? {}));
  return {
    ...(notesMarkdown === undefined ? {} : { notesMarkdown }),
    ...(artifacts.length === 0 ? {} : { artifacts }),
    ...(Object.keys(context).length === 0 ? {} : { context }),
  };
}

function once(artifacts: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(artifacts.map((artifact) => [canonicalJson(artifact).unwrapOr(''), artifact])).values()];
}
