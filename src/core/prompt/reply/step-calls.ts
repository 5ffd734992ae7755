import { canonicalJson } from '../../json/canonical-json.ts';
import { defined } from '../../json/defined.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Call } from '../../log/error-envelope.ts';
import { hole } from '../../log/operation/stored-reply.ts';
import { exampleNotesAt } from '../../run/requirements/example-notes.ts';
import type { ExampleOutput, Unmet } from '../../run/requirements/step-check.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { isAnswerToReport, isOfUser, type RenderedStep } from '../step/render-step.ts';

/** The call that reports the step. Sent unchanged it is accepted; beside an artifact it has room for notes. */
export function reportCall(step: RenderedStep): Call {
  const example = reportExample(step);
  const isBeside = example.artifacts !== undefined && isNoteWelcome(step);
  return callWith(isBeside ? { notesMarkdown: BESIDE_THE_ARTIFACT, ...example } : example);
}

const BESIDE_THE_ARTIFACT = 'The notes the step asks for.';

/** A contract replaces the required notes, but only notes show later what happened. */
function isNoteWelcome({ place: { step } }: RenderedStep): boolean {
  return step.output !== undefined && step.purpose.kind !== 'probe' && step.purpose.kind !== 'loop_decision';
}

/** An example includes an answer of the user only where the user is asked before the call is sent. */
function reportExample({ place, lacking }: RenderedStep): ExampleOutput {
  const isAlone = place.facts.preferences.autonomy === 'full_auto_never_stop';
  const own = mergedExample(lacking.filter((unmet) => !(isAlone ? isOfUser(unmet) : isAnswerToReport(unmet))));
  if (own.notesMarkdown === undefined) return own;
  const requirements = place.requirements.filter(({ kind }) => kind !== 'approval' && kind !== 'user_dependency');
  return { ...own, notesMarkdown: exampleNotesAt({ ...place, requirements }) };
}

/**
 * The call that sends what an attempt lacked; the rest is kept and need not be sent again. Where no call from this step
 * can fix it, the call leads back to the step that can. A stored reply cannot hold that token, so it rehydrates first.
 */
export function correctedCall({
  unmet,
  earlierStateToken,
}: Omit<NonNullable<ReplyParts['blocked']>, 'blockers'>): Call {
  const canBeFixed = unmet.some(({ example }) => example !== undefined);
  if (canBeFixed || !unmet.some((one) => one.earlierStep !== undefined)) return callWith(mergedExample(unmet));
  return { tool: 'continue_workflow', arguments: { stateToken: earlierStateToken ?? hole('stateToken') } };
}

function callWith({ notesMarkdown, artifacts, context }: ExampleOutput): Call {
  const isEmpty = notesMarkdown === undefined && artifacts === undefined;
  const output = isEmpty ? undefined : defined({ notesMarkdown, artifacts });
  return { tool: 'continue_workflow', arguments: defined({ ackToken: hole('ackToken'), output, context }) };
}

/** One output with the examples of everything that is unmet. */
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
