import { fillForm } from '../../src/core/author/fill-form.ts';
import { defined, isObject, type JsonObject } from '../../src/core/json/json-value.ts';
import type { StepPlace } from '../../src/core/run/step-place.ts';

/**
 * The arguments of an offered call with every blank filled in, as an agent that does what it reads would send them. With
 * the place of the step, notes also meet rules that the form does not show.
 */
export function filledArguments(given: JsonObject, place?: StepPlace): JsonObject {
  const output = isObject(given['output']) ? (given['output'] as JsonObject) : undefined;
  const context = isObject(given['context']) ? (given['context'] as JsonObject) : undefined;
  const notesMarkdown = typeof output?.['notesMarkdown'] === 'string' ? output['notesMarkdown'] : undefined;
  const artifacts = Array.isArray(output?.['artifacts']) ? (output['artifacts'] as JsonObject[]) : undefined;
  const filled = fillForm(defined({ notesMarkdown, artifacts, context }), place);
  return {
    ...given,
    ...(output === undefined
      ? {}
      : { output: { ...output, ...defined({ notesMarkdown: filled.notesMarkdown, artifacts: filled.artifacts }) } }),
    ...defined({ context: filled.context }),
  };
}

/** An offered call with every blank filled in. */
export function filledCall<Given extends { readonly arguments: object }>(call: Given, place?: StepPlace): Given {
  return { ...call, arguments: filledArguments(call.arguments as JsonObject, place) };
}
