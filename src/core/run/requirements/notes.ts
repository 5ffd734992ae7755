import { isList, type JsonObject, type JsonValue, ownValue, quote } from '../../json/json-value.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import { clip, utf8Length } from '../../text/utf8.ts';
import { andList } from '../../text/words.ts';
import { type Condition, conditionLeaves } from '../../workflow/compiled/condition.ts';
import { type Criteria, criteriaRules } from '../../workflow/compiled/criteria.ts';
import type { Facts } from '../condition/evaluate-condition.ts';
import { evaluateCriteria, type UnmetCriteria } from '../condition/evaluate-criteria.ts';
import { AGAIN_WORDS, ANSWER_WORDS, blank, choiceBlank, notesForm, WORK_WORDS } from '../form/blank.ts';
import { accountedPrefix, keyBlank } from '../form/context-form.ts';
import { conditionFacts, type StepAttempt } from '../step-place.ts';
import { choicesAt, chosenFacts, criteriaBullets, describeUnmet, formLines } from './describe-criteria.ts';
import { accountsAt, IDS_MAX, idsIn, NOTES_PLACE, namesId } from './judge-artifact.ts';
import {
  type AskedAttempt,
  type AskedPlace,
  contextPointer,
  fitItems,
  met,
  NOTHING_CHECKED,
  notMet,
  type Requirement,
  requirementKind,
  stepPointer,
} from './requirement.ts';

/** Notes about the step, which a person or another agent can read later. */
export const notes = requirementKind<'notes', 'missing'>({
  find: ({ step }) => (step.isNoteRequired ? [{ kind: 'notes' }] : []),
  ask: () => 'Notes about this step only, in `output.notesMarkdown`.',
  form: (_, place) => ({ notesMarkdown: notesFormAt(place) }),
  check: (_, attempt) => {
    const requirement = `notes:${attempt.step.stepId}`;
    return hasNotes(attempt) ? met(requirement) : notMet(requirement, 'missing');
  },
  explain: (_, __, { step, unfilled }) => ({
    reason: 'contract_violation:missing_required_output',
    pointer: stepPointer(step),
    message: unfilled.notes.length > 0 ? '' : 'This step requires notes.',
    suggestedFix:
      'Send `output.notesMarkdown`: what you did in this step, the result, and what is still open. Write about this step only.',
  }),
});

export function hasNotes({ handedIn }: Pick<StepAttempt, 'handedIn'>): boolean {
  return (handedIn.notesMarkdown ?? '').trim() !== '';
}

/** Notes to fill in that cover everything this place asks of notes. */
export function notesFormAt(place: AskedPlace): string {
  const isAnswer = place.requirements.some(
    (one) => one.kind === 'approval' || (one.kind === 'user_dependency' && one.contextKey === undefined),
  );
  const enforced = place.requirements.find(
    (one): one is Requirement<'criteria'> => one.kind === 'criteria' && one.isEnforced,
  );
  const rules = enforced?.criteria;
  // The offered context makes rules void that count only while a key has no value.
  const lines = rules === undefined ? [] : formLines(rules, chosenFacts(place, rules));
  // A line of the rules may ask for an id already.
  const isAsked = (id: string) => lines.some((line) => line.split('\n').some((part) => part.startsWith(`${id}:`)));
  const ids = place.requirements.flatMap((one) => (one.kind === 'accounts' ? one.ids : []));
  const accounted = ids.filter((id) => !isAsked(id)).map(accountLine);
  return notesForm([WORK_WORDS, ...(isAnswer ? [ANSWER_WORDS] : [])], [...lines, ...accounted]);
}

function accountLine(id: string): string {
  return `${id}: ${blank('the result for it')}`;
}

/** Ids that the notes have to name, each with what became of it. */
export const accounts = requirementKind<'accounts', readonly string[]>({
  find: (place) =>
    accountsAt(place)
      .filter((account) => account.in === NOTES_PLACE)
      .map(({ key, ids }) => ({ kind: 'accounts', key, ids })),
  ask: ({ key, ids }) => `In the notes, a line for each id in ${quote(key)}: ${ids.join(', ')}.`,
  form: (_, attempt, missing) => ({ notesMarkdown: correctedNotes(attempt, missing.map(accountLine)) }),
  check: ({ key, ids }, attempt) => {
    const requirement = `accounts:${key}:${attempt.step.stepId}`;
    const sent = attempt.handedIn.notesMarkdown ?? '';
    const missing = ids.filter((id) => !namesId(sent, id));
    return missing.length === 0 ? met(requirement) : notMet(requirement, missing);
  },
  explain: (missing, { key }, attempt) => ({
    reason: `contract_violation:${hasNotes(attempt) ? 'invalid' : 'missing'}_required_output`,
    pointer: stepPointer(attempt.step),
    message: fitItems(missing, {
      head: `The notes do not account for every id in ${clip(quote(key))}. Missing: `,
      separator: ', ',
      bytesMax: BLOCKER_MESSAGE_BYTES_MAX,
    }),
    suggestedFix:
      'Send the complete notes in `output.notesMarkdown`, with a line for each missing id that says what became of it.',
  }),
});

/** A list of context that later steps account for needs an id on each entry. */
export const listIds = requirementKind<'ids', 'missing' | 'wrong'>({
  find: ({ index, step }) =>
    (step.sets ?? []).flatMap((key) => {
      const prefix = accountedPrefix(index, key);
      return prefix === undefined ? [] : [{ kind: 'ids' as const, key, prefix }];
    }),
  ask: ({ key, prefix }) =>
    `Send ${quote(key)} in \`context\`: a list of strings that begin with ${prefix}1:, ${prefix}2:, and so on. Later steps account for each one.`,
  form: ({ key }, { index }) => ({ context: { [key]: keyBlank(index, key) } }),
  check: ({ key, prefix }, { facts }) => {
    const requirement = `ids:${key}`;
    const value = ownValue(facts.context, key);
    if (value === undefined || value === null) return notMet(requirement, 'missing');
    const isWhole =
      isList(value) && value.length > 0 && idsIn(value, prefix).length === Math.min(value.length, IDS_MAX);
    return isWhole ? met(requirement) : notMet(requirement, 'wrong');
  },
  explain: (problem, { key, prefix }, { step, unfilled }) => ({
    reason: `contract_violation:${problem === 'missing' ? 'missing' : 'invalid'}_required_output`,
    pointer: contextPointer(key, step),
    message:
      problem === 'wrong'
        ? `Each entry of the context value ${clip(quote(key))} must be a string that begins with its own id: ${prefix}1:, ${prefix}2:, and so on.`
        : unfilled.contextKeys.includes(key)
          ? ''
          : `The context value ${clip(quote(key))} is missing.`,
    suggestedFix: `Send \`context\` (not inside \`output\`) with ${clip(quote(key))}: ${problem === 'wrong' ? 'the whole list.' : `a list of strings that begin with ${prefix}1:, ${prefix}2:, and so on.`}`,
  }),
});

/** Rules that are not met, in words. */
type Problem = {
  readonly unmet: readonly string[];
  /** The lines to fill in for them. */
  readonly lines: readonly string[];
  /** What is asked for in context; notes can state it instead. */
  readonly lacking: Criteria;
  /** Whether each of them is met by a context value, too. */
  readonly areChoices: boolean;
  /** Whether the notes are fine once the context has what is missing. */
  readonly areNotesEnough: boolean;
};

/** What the notes have to contain. */
export const criteriaRequirement = requirementKind<'criteria', Problem>({
  find: (place) => {
    const { criteria: rules, output } = place.step;
    if (rules === undefined) return [];
    const bullets = criteriaBullets(rules, conditionFacts(place));
    const isEnforced = output === undefined;
    return bullets.length === 0 ? [] : [{ kind: 'criteria', criteria: rules, isEnforced, bullets }];
  },

  ask: ({ isEnforced, bullets }) => {
    const lead = isEnforced ? 'Checked in this step:' : 'Advice for the notes (not checked):';
    return [lead, ...bullets.map((bullet) => `- ${bullet}`)].join('\n');
  },

  form: (asked, attempt, { areNotesEnough, lacking, lines }) => {
    const keys = Object.keys(choicesAt(attempt, areNotesEnough ? lacking : asked.criteria));
    const listed = listedValues(asked.criteria, conditionFacts(attempt));
    const blankOf = (key: string) => {
      const values = listed.get(key) ?? [];
      return values.length > 1 ? choiceBlank(values) : keyBlank(attempt.index, key);
    };
    const context = Object.fromEntries(keys.map((key) => [key, blankOf(key)]));
    return {
      ...(areNotesEnough ? {} : { notesMarkdown: correctedNotes(attempt, lines) }),
      ...(Object.keys(context).length === 0 ? {} : { context }),
    };
  },

  check: ({ criteria: rules, isEnforced }, attempt) => {
    if (!isEnforced) return NOTHING_CHECKED;
    const requirement = `criteria:${attempt.step.stepId}`;
    const sent = attempt.handedIn.notesMarkdown ?? '';
    const facts = conditionFacts(attempt);
    const found = evaluateCriteria(rules, sent, facts);
    if (found.length === 0) return met(requirement);
    // Sufficient notes are kept, including what they state in place of a context value.
    const missing = found.flatMap((one) => (one.kind === 'missing' ? [one.rule] : []));
    const lacking: Criteria = { kind: 'and', criteria: missing };
    const areNotesEnough =
      hasNotes(attempt) && evaluateCriteria(rules, sent, chosenFacts(attempt, lacking)).length === 0;
    return notMet(requirement, {
      unmet: found.map((one) => describeUnmet(one, facts)),
      lines: unmetLines(rules, sent, chosenFacts(attempt, rules)),
      lacking,
      areChoices: found.every((one) => one.kind === 'missing' && isChoice(one.rule, attempt)),
      areNotesEnough,
    });
  },

  explain: ({ unmet, areNotesEnough, areChoices, lacking }, asked, attempt) => {
    const values = areChoices ? valueWords(asked.criteria, lacking, attempt) : undefined;
    const lead = `${areNotesEnough ? 'The notes are accepted. ' : ''}${values === undefined ? '' : `${values} `}`;
    const rules = values === undefined ? 'Not met:' : `The ${unmet.length === 1 ? 'rule' : 'rules'} of this step:`;
    const message = fitItems(numbered(unmet.map((rule) => clip(rule, RULE_IN_MESSAGE_BYTES_MAX))), {
      head: `${lead}${rules}${unmet.length === 1 ? ' ' : '\n'}`,
      separator: '\n',
      bytesMax: BLOCKER_MESSAGE_BYTES_MAX,
    });
    const how = areNotesEnough
      ? keptWords(choicesAt(attempt, lacking))
      : hasNotes(attempt)
        ? REPLACED
        : addedWords(areChoices, choicesAt(attempt, lacking));
    return {
      reason: `contract_violation:${hasNotes(attempt) ? 'invalid' : 'missing'}_required_output`,
      pointer: stepPointer(attempt.step),
      message,
      suggestedFix: isShownIn(message, unmet) ? how : `${how} ${missingList(unmet, how)}`,
    };
  },
});

/** What is wrong with the context values that rules ask for: a value that is not allowed is not called missing. */
function valueWords(rules: Criteria, lacking: Criteria, attempt: AskedAttempt): string | undefined {
  const listed = listedValues(rules, conditionFacts(attempt));
  const keys = Object.keys(choicesAt(attempt, lacking));
  if (keys.length === 0) return undefined;
  const words = keys.slice(0, VALUES_SHOWN_MAX).map((key) => {
    const sent = ownValue(attempt.facts.context, key);
    const allowed = (listed.get(key) ?? []).map((one) => (typeof one === 'string' ? one : quote(one)));
    const isMissing = sent === undefined || sent === null || sent === '';
    const state = isMissing ? 'missing' : clip(quote(sent), VALUE_BYTES_MAX);
    const choice = allowed.length === 0 ? '' : ` (allowed: ${clip(allowed.join(', '), VALUE_BYTES_MAX)})`;
    return `${clip(quote(key), VALUE_BYTES_MAX)} is ${state}${choice}`;
  });
  const more = keys.length - words.length;
  return `In context, ${andList([...words, ...(more > 0 ? [`${more} more`] : [])])}.`;
}

const VALUES_SHOWN_MAX = 3;
const VALUE_BYTES_MAX = 40;

/** Whether a context value meets a rule. */
function isChoice(rule: Criteria, attempt: AskedAttempt): boolean {
  return Object.keys(choicesAt(attempt, rule)).length > 0;
}

/** Where to write what is missing. A rule about a context value says what the notes may state instead. */
function addedWords(areChoices: boolean, choices: JsonObject): string {
  const keys = Object.keys(choices).map((key) => clip(quote(key)));
  if (keys.length === 0) return ADDED;
  const send = `${andList(keys)} in \`context\` (not inside \`output\`)`;
  return areChoices
    ? `Send ${send}, or write in the notes what the rule accepts instead.`
    : `Write the missing parts in \`output.notesMarkdown\`, and send ${send}. Report only work that you really did.`;
}

/** A rule takes up one line or more, so that only numbers show where the next one begins. */
function numbered(rules: readonly string[]): readonly string[] {
  return rules.length === 1 ? rules : rules.map((rule, i) => `(${i + 1}) ${rule}`);
}

/** A list that the message shows is not repeated in the fix. Another message may still be joined to a long one. */
function isShownIn(message: string, unmet: readonly string[]): boolean {
  return utf8Length(message) <= WHOLE_MESSAGE_BYTES_MAX && unmet.every((rule) => message.includes(rule));
}

function missingList(unmet: readonly string[], how: string): string {
  return fitItems(
    unmet.map((rule) => clip(rule, RULE_IN_FIX_BYTES_MAX)),
    { head: 'Missing:\n- ', separator: '\n- ', bytesMax: BLOCKER_FIX_BYTES_MAX - utf8Length(how) - 1 },
  );
}

/** The values that the conditions of these rules list for a key: the rule asks for one of them, not for any known one. */
function listedValues(criteria: Criteria, { conditions }: Facts): ReadonlyMap<string, readonly JsonValue[]> {
  const found = new Map<string, readonly JsonValue[]>();
  const leavesOf = (condition: Condition): void => {
    for (const leaf of conditionLeaves(condition)) {
      if (leaf.kind === 'ref') {
        const named = conditions.get(leaf.conditionId);
        if (named !== undefined) leavesOf(named);
      } else if (leaf.kind === 'compare' && leaf.comparison === 'in' && Array.isArray(leaf.value)) {
        found.set(leaf.variable, leaf.value as readonly JsonValue[]);
      }
    }
  };
  for (const { when } of criteriaRules(criteria)) if (when !== undefined) leavesOf(when);
  return found;
}

/** The agent's own notes with a line for each rule they do not meet; long notes are not repeated. */
function correctedNotes(attempt: AskedAttempt, lines: readonly string[]): string {
  const own = attempt.handedIn.notesMarkdown?.trimEnd() ?? '';
  if (own === '') return notesFormAt(attempt);
  const kept = utf8Length(own) <= OWN_NOTES_BYTES_MAX ? own : blank(AGAIN_WORDS);
  return [kept, ...lines].join('\n');
}

/** What to fill in for each rule that notes do not meet, once the context has what the form asks for. */
function unmetLines(rules: Criteria, notes: string, facts: Facts): readonly string[] {
  return evaluateCriteria(rules, notes, facts).flatMap((unmet) => linesFor(unmet, facts));
}

/** Of alternatives the first. A rule without a line of its own is described. */
function linesFor(unmet: UnmetCriteria, facts: Facts): readonly string[] {
  if (unmet.kind === 'any_of') return (unmet.alternatives[0] ?? []).flatMap((one) => linesFor(one, facts));
  const lines = unmet.kind === 'missing' ? formLines(unmet.rule, facts) : [];
  return lines.length > 0 ? lines : [blank(`Remove this line, and correct the notes: ${describeUnmet(unmet, facts)}`)];
}

const OWN_NOTES_BYTES_MAX = 2048;

const WHOLE_MESSAGE_BYTES_MAX = 400;

/** One rule must not push all others out of the message; the fix has room for more of it. */
const RULE_IN_MESSAGE_BYTES_MAX = 200;
const RULE_IN_FIX_BYTES_MAX = 400;

const REPLACED =
  'Send the complete notes in `output.notesMarkdown`; they replace the notes you sent. Report only work that you really did.';
const ADDED = 'Write the missing parts in `output.notesMarkdown`. Report only work that you really did.';

function keptWords(choices: JsonObject): string {
  const keys = Object.keys(choices).map((key) => clip(quote(key)));
  return `The notes you sent are kept. Send ${andList(keys)} in \`context\` (not inside \`output\`), or send all notes again with what the rule accepts instead.`;
}
