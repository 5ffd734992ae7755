import type { JsonValue } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import type { StepAttempt } from '../step-place.ts';
import { clip } from './judge-artifact.ts';
import type { Requirement } from './requirement.ts';
import { contextPointer, type Found, met, notMet, stepPointer } from './step-check.ts';

const QUESTION_BYTES_MAX = 420;
const ANSWER = 'The answer of the user, in their words';

/** Something only a person can supply. With a key only its value counts; without one the agent tells the answer. */
export function checkUserDependency(
  asked: Extract<Requirement, { kind: 'user_dependency' }>,
  attempt: StepAttempt,
  exampleNotes: () => string,
): Found {
  const { reason, contextKey, prompt } = asked;
  const { step, facts } = attempt;
  const requirement = `user_dependency:${contextKey ?? step.stepId}`;
  const question = clip(prompt, QUESTION_BYTES_MAX);
  const unmet = { reason: `user_only_dependency:${reason}`, requirement } as const;
  if (contextKey === undefined) {
    if (isAnswered(attempt)) return met(requirement);
    return notMet({
      ...unmet,
      pointer: stepPointer(step),
      message: `This needs the user: ${question}`,
      suggestedFix: `Ask the user and wait. Then send this step again with the answer in output.notesMarkdown, which replaces notes already sent. Never answer in their place. To ask: ${question}`,
      example: { notesMarkdown: exampleNotes() },
    });
  }
  if (Object.hasOwn(facts.context, contextKey) && saysSomething(facts.context[contextKey])) return met(requirement);
  const context = { [contextKey]: ANSWER };
  return notMet({
    ...unmet,
    pointer: contextPointer(contextKey, step),
    message: `This needs the user, and the context has no value for ${quote(contextKey)}: ${question}`,
    suggestedFix: `Ask the user and wait; never answer in their place. Then send this step again with context ${quote(context)}, the answer as its value. To ask: ${question}`,
    example: { context },
  });
}

export function checkApproval(attempt: StepAttempt, exampleNotes: () => string): Found {
  const { step } = attempt;
  const requirement = `approval:${step.stepId}`;
  if (isAnswered(attempt)) return met(requirement);
  return notMet({
    reason: 'user_only_dependency:needs_user_approval',
    pointer: stepPointer(step),
    message: `The user has to approve this step before the run goes on.`,
    suggestedFix: `Show the user what you have and ask for approval. When it is given, send this step again and say in output.notesMarkdown what was approved, in their words; these notes replace notes already sent. Never approve in their place.`,
    requirement,
    example: { notesMarkdown: exampleNotes() },
  });
}

/** Notes of the first attempt cannot hold the answer: the block is what makes the agent ask. */
function isAnswered({ isRetry, hasNewNotes }: StepAttempt): boolean {
  return isRetry && hasNewNotes;
}

/** An empty text is no answer; no and zero are. */
function saysSomething(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '');
}
