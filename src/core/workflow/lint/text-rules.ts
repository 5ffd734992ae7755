import { quote } from '../../json/json-value.ts';
import type { Facts } from '../../run/condition/evaluate-condition.ts';
import { evaluateCriteria, PATTERNS_SIZE_MAX, patternsSize } from '../../run/condition/evaluate-criteria.ts';
import { notesForm, WORK_WORDS, withoutBlanks } from '../../run/form/blank.ts';
import { chosenFacts, formLines } from '../../run/requirements/describe-criteria.ts';
import { conditionFacts } from '../../run/step-place.ts';
import { clip } from '../../text/utf8.ts';
import { reservedLines } from '../../text/visible-text.ts';
import { gatesOf } from '../compiled/condition-references.ts';
import { type Criteria, type CriteriaRule, foldCriteria } from '../compiled/criteria.ts';
import { indexWorkflow } from '../compiled/workflow-index.ts';
import type { SourceSpan } from '../diagnostics/diagnostic.ts';
import { authoredSteps } from '../format/read-workflow.ts';
import { field } from '../format/reader.ts';
import { promptBytes } from '../outline/workflow-outline.ts';
import { type SourceNode, type SourceObject, type SourceText, sourceTexts } from '../source/source-node.ts';
import type { LintedFile, LintedWorkflow, LintFinding, LintRule } from './lint-rule.ts';

/** Each leaves it to the agent whether a thing is done, without saying by what. */
const PHRASES = [
  'if (?:it is |it seems )?(?:applicable|appropriate|needed|necessary|required|relevant|possible|desired|feasible|you (?:want|like|wish))',
  '(?:as|where|when|whenever|wherever) (?:applicable|appropriate|needed|necessary|required|relevant|possible|feasible|desired)',
  'if time (?:permits|allows)',
  'feel free to',
  'you (?:may|might|can) (?:want|choose|wish) to',
  'optionally',
  'as you see fit',
  'at your discretion',
  'to the extent possible',
  'nice to have',
];
const VAGUE = new RegExp(`\\b(?:${PHRASES.join('|')})\\b`, 'gi');
const READ_BY_AGENTS = /^\/(?:steps|metaGuidance|functionDefinitions)\//;
/** Names, and what is compared or looked for as it stands. */
const NOT_PROSE = /\/(?:id|title|message|value|pattern|equals|contains|var|contractRef|source)$/;

export const vagueOptOut: LintRule = {
  code: 'vague_opt_out',
  looksAt: 'file',
  finds: 'words that let the agent skip something without saying when',
  why: 'An agent in a hurry reads "if needed" as "no". Afterwards nobody knows whether it was considered or skipped.',
  hint: 'Say what decides it ("when the change touches the public API, …; otherwise write why not"), or give the step a runCondition.',
  find: ({ root, text }) =>
    sourceTexts(root)
      .filter(({ pointer }) => READ_BY_AGENTS.test(pointer) && !NOT_PROSE.test(pointer))
      .flatMap((node) =>
        spansOf(node, VAGUE, text).map(({ phrase, span }) => ({
          at: node.pointer,
          span,
          message: `"${phrase}" lets the agent choose without saying what decides it.`,
        })),
      ),
};

/** What asks the agent to turn to the user, and not what only mentions it ("never ask the user", "if you ask me to"). */
const ASKING =
  /(?<!(?:\b(?:not|never|without|if you|when you)|n't) )\b(?:ask|consult|check with|confirm with) the user\b|(?<=^|[.!?:;]\s+|\n\s*(?:[-*]|\d+\.)?\s*)Ask me\b/gi;
/** Texts of a step that an agent reads. */
const READ = ['prompt', 'promptBlocks', 'guidance', 'promptFragments', 'synthesis'];

export const asksTheUser: LintRule = {
  code: 'asks_the_user',
  looksAt: 'file',
  finds: 'a prompt that asks the agent to consult the user, in a step that does not declare it',
  why: 'The mode of a run decides whether a user is there. In an unattended run, nobody answers: the agent waits or invents an answer, and the run records no gap.',
  hint: 'Give the step a "userDependency" (only the user can answer) or "requireConfirmation": true (the user may stop it); the reply then says whether to ask, and what to do if nobody is there.',
  find: ({ root, text }) =>
    root.kind === 'object' ? stepsIn(field(root, 'steps')).flatMap((step) => findIn(step, text)) : [],
};

export const minimumUnreachable: LintRule = {
  code: 'minimum_unreachable',
  looksAt: 'workflow',
  finds: 'a check with the minimum "verified"',
  why: 'Only a CI job that reports to a team server can verify a check. Without a team server the step blocks every run, and in never-stop mode it always leaves a gap.',
  hint: 'If the workflow is also used without a team server, use "minimum": "observed": WorkRail runs the command itself and records how it ended.',
  find: ({ syntax }) =>
    authoredSteps(syntax.steps).flatMap((step) =>
      (step.kind === 'standard' ? step.checks : [])
        .filter(({ minimum }) => minimum === 'verified')
        .map(({ at, id }) => ({
          at,
          message: `Without a team server, nothing can verify the check "${id}", so this step cannot be passed.`,
        })),
    ),
};

export const assuranceWithoutGate: LintRule = {
  code: 'assurance_without_gate',
  looksAt: 'workflow',
  finds: 'an "assurance" of a step that asks nobody',
  why: 'It says how well the answer of a person must be known. Without a question there is no answer: the step is passed as if it had no "assurance", and nobody confirms or signs anything.',
  hint: 'Add "requireConfirmation": {"kind": "human_approval"} or a "userDependency" to the step, or remove the "assurance".',
  find: ({ syntax }) =>
    authoredSteps(syntax.steps).flatMap((step) => {
      if (step.kind !== 'standard' || step.assurance === undefined || step.assurance === 'stated') return [];
      const isAsked = gatesOf(step.confirmation).some(({ kind }) => kind === 'human_approval');
      if (isAsked || step.userDependency !== undefined) return [];
      const message = `Nobody is asked in "${step.id}", so its assurance "${step.assurance}" has no effect.`;
      return [{ at: `${step.at}/assurance`, message }];
    }),
};

/** Texts that no agent reads, or that are compared and not shown. */
const NOT_SHOWN = /^\/(?:about|examples)\b|\/(?:id|value|pattern|equals|contains|run)$/;

export const reservedLine: LintRule = {
  code: 'reserved_line',
  looksAt: 'file',
  finds: 'a line that looks like one of WorkRail, such as "Next call:", "Confirmation:" or ---',
  why: "With such lines WorkRail tells the agent what to do next, what was approved and where its own part of a reply begins. An agent could take the author's line for one of them, so it is shown as a quotation.",
  hint: 'Write the line in other words; instead of --- use a heading or an empty line.',
  find: (linted) => [
    ...sourceTexts(linted.root)
      .filter(({ pointer }) => !NOT_SHOWN.test(pointer))
      .flatMap(({ pointer, value }) =>
        reservedLines(value).map((line) => ({ at: pointer, message: `${lineWords(line)} ${LOOKS}` })),
      ),
    ...boundTexts(linted).flatMap(({ originId, text = '' }) =>
      reservedLines(text).map((line) => ({
        at: '/extensionPoints',
        message: `The project's binding ${quote(originId)}: ${lineWords(line)} ${LOOKS}`,
      })),
    ),
  ],
};

/** Texts that the project put into the workflow; known once it compiles. */
function boundTexts(linted: LintedFile & Partial<LintedWorkflow>): NonNullable<LintedWorkflow['workflow']['origins']> {
  return (linted.workflow?.origins ?? []).filter(({ source }) => source === 'project_binding');
}

function lineWords(line: string): string {
  return quote(clip(line.trim(), LINE_BYTES_MAX));
}

const LINE_BYTES_MAX = 60;
const LOOKS = "looks like a line of WorkRail's own, so agents see it as a quotation.";

/** The steps that declare nothing that a user has to do with, also inside of loops that do not. */
function stepsIn(list: SourceNode | undefined): readonly SourceObject[] {
  if (list?.kind !== 'array') return [];
  return list.items.flatMap((step) => {
    if (step.kind !== 'object' || isDeclared(step)) return [];
    return [step, ...stepsIn(field(step, 'body'))];
  });
}

function isDeclared(step: SourceObject): boolean {
  const confirmation = field(step, 'requireConfirmation');
  const isConfirmed = confirmation !== undefined && !(confirmation.kind === 'boolean' && !confirmation.value);
  return isConfirmed || step.fields.has('userDependency');
}

function findIn(step: SourceObject, text: string): readonly LintFinding[] {
  const read = READ.flatMap((name) => field(step, name) ?? []).flatMap(sourceTexts);
  return read.flatMap((node) =>
    spansOf(node, ASKING, text).map(({ phrase, span }) => ({
      at: node.pointer,
      span,
      message: `"${phrase}": the step does not declare that it needs the user.`,
    })),
  );
}

/** A phrase that can be typed without having done anything: `planComplete = true`, `- [x] done`, "verified". */
const FLAG =
  /[=:]\s*["']?(?:true|yes|done|complete[d]?|ok|pass(?:ed)?)\b|\[x\]|^[\w\s-]{0,24}\b(?:complete[d]?|done|finished|verified|confirmed|approved|passed|ready|ok|yes)[\s.!]*$/i;
/** So little can be written without saying anything. */
const LENGTH_THAT_SAYS_NOTHING = 40;

export const flagOnlyValidation: LintRule = {
  code: 'flag_only_validation',
  looksAt: 'workflow',
  finds: 'validation criteria that are met by a phrase alone',
  why: 'The criteria are shown to the agent. If they ask for a phrase, the agent writes the phrase, whether or not the work was done.',
  hint: 'Ask for what only the work can produce: an outputContract, or criteria for headings, numbers or file names in the notes.',
  find: ({ syntax }) =>
    authoredSteps(syntax.steps).flatMap((step) => {
      if (step.kind !== 'standard' || step.criteria === undefined || step.output?.isRequired === true) return [];
      const rules = rulesOf(step.criteria);
      const flag = rules.find(isFlag);
      if (flag === undefined || !rules.every((rule) => isFlag(rule) || saysNothing(rule))) return [];
      return [
        {
          at: `${step.at}/validationCriteria`,
          message: `The notes of "${step.id}" pass with ${phraseOf(flag)} alone.`,
        },
      ];
    }),
};

export const samplePasses: LintRule = {
  code: 'sample_passes',
  looksAt: 'workflow',
  finds: 'validation criteria that the form of the step meets with nothing filled in',
  why: 'The form is sent with the step. If its fixed words meet the criteria, an agent that deletes the blanks passes without having done anything.',
  hint: 'Give each rule a "form" such as "Verdict: <fill: approve | reject>", and a pattern that needs what is filled in, such as "^Verdict: (approve|reject)\\b".',
  isErrorInBundled: true,
  find: ({ syntax, workflow, compilePattern }) => {
    const index = indexWorkflow(workflow);
    const compiled = new Map(workflow.steps.map((step) => [step.stepId as string, step]));
    const place = { index, loopVariables: {}, facts: { context: {}, compilePattern } };
    return authoredSteps(syntax.steps).flatMap((step) => {
      const { criteria, output } = compiled.get(step.id) ?? {};
      // Beside a contract, criteria are not checked.
      if (criteria === undefined || output !== undefined) return [];
      const isMet = [conditionFacts(place), chosenFacts(place, criteria)].some((seen) => isMetUnfilled(criteria, seen));
      if (!isMet) return [];
      const message = `The notes of "${step.id}" meet its criteria with the form alone, without anything filled in.`;
      return [{ at: `${step.at}/validationCriteria`, message }];
    });
  },
};

export const patternsTooLarge: LintRule = {
  code: 'patterns_too_large',
  looksAt: 'workflow',
  finds: `criteria whose patterns are too large together (more than ${PATTERNS_SIZE_MAX} single checks)`,
  why: 'All patterns of a step are checked on the same notes, and each takes time in proportion to its size. Agents with long notes would be refused.',
  hint: 'Lower the counts of repetitions such as {1,200}, ask for less in one step, or use an outputContract.',
  isError: true,
  find: ({ syntax }) =>
    authoredSteps(syntax.steps).flatMap((step) => {
      if (step.kind !== 'standard' || step.criteria === undefined) return [];
      const size = patternsSize(step.criteria);
      if (size <= PATTERNS_SIZE_MAX) return [];
      const message = `The patterns of "${step.id}" expand to ${size} single checks together; ${PATTERNS_SIZE_MAX} are allowed.`;
      return [{ at: `${step.at}/validationCriteria`, message }];
    }),
};

/** Whether a form has fixed words that are enough. Where no rule has a line, there is nothing to delete. */
function isMetUnfilled(criteria: Criteria, facts: Facts): boolean {
  const lines = formLines(criteria, facts);
  if (lines.length === 0) return false;
  const sent = withoutBlanks(notesForm([WORK_WORDS], lines));
  return evaluateCriteria(criteria, sent, facts).length === 0;
}

function rulesOf(criteria: Criteria): readonly CriteriaRule[] {
  return foldCriteria<readonly CriteriaRule[]>(criteria, {
    rule: (rule) => [rule],
    not: () => [],
    join: (_, parts) => parts.flat(),
  });
}

function isFlag(rule: CriteriaRule): boolean {
  if (rule.kind === 'contains') return FLAG.test(rule.value);
  return rule.kind === 'regex' && FLAG.test(rule.pattern.replaceAll(/\\s[*+?]?|\\b|[\^$()]/g, ' '));
}

function saysNothing(rule: CriteriaRule): boolean {
  return rule.kind === 'schema' || (rule.kind === 'length' && (rule.min ?? 0) < LENGTH_THAT_SAYS_NOTHING);
}

function phraseOf(rule: CriteriaRule): string {
  if (rule.kind === 'contains') return `the phrase "${rule.value}"`;
  return rule.kind === 'regex' ? `a phrase like /${rule.pattern}/` : 'a phrase';
}

/** What an agent still takes in as one task. */
const PROMPT_BYTES_ADVISED = 3_500;

export const promptTooLong: LintRule = {
  code: 'prompt_too_long',
  looksAt: 'workflow',
  finds: `a prompt of more than ${PROMPT_BYTES_ADVISED} bytes`,
  why: 'The longer a prompt is, the more of it an agent overlooks, and every agent that resumes reads it again.',
  hint: 'Split the step, move standing rules into metaGuidance and long texts into a reference, or say it in fewer words.',
  find: ({ syntax, workflow }) => {
    const written = new Map(authoredSteps(syntax.steps).map((step) => [step.id, step.at]));
    return workflow.steps.flatMap((step) => {
      const at = step.provenance.source === 'authored' ? written.get(step.stepId) : undefined;
      const bytes = promptBytes(step);
      if (at === undefined || bytes <= PROMPT_BYTES_ADVISED) return [];
      return [
        {
          at: `${at}/id`,
          message: `The prompt of "${step.stepId}" has ${bytes} bytes; at most ${PROMPT_BYTES_ADVISED} are recommended.`,
        },
      ];
    });
  },
};

/** What `workflow new` writes for the author to replace. */
export const UNWRITTEN = {
  about: 'What this workflow is for, what it produces, and when to use another one. Users choose by this text.',
  example: 'A goal as a user would type it',
} as const;

export const missingAbout: LintRule = {
  code: 'missing_about',
  looksAt: 'workflow',
  finds: 'a workflow without "about", or with the one that "workflow new" writes',
  why: 'People use it to choose a workflow: what it is for, what it produces, and when to use another one.',
  hint: 'Write an "about" of a few lines in Markdown: what it is for, what it produces, what it is not for.',
  find: ({ syntax }) =>
    syntax.about === undefined
      ? [{ at: '/name', message: 'The workflow has no "about", so people cannot see what it is for.' }]
      : syntax.about === UNWRITTEN.about
        ? [{ at: '/about', message: 'The "about" is still the text of the template. Say what this workflow is for.' }]
        : [],
};

export const missingExamples: LintRule = {
  code: 'missing_examples',
  looksAt: 'workflow',
  finds: 'a workflow without "examples", or with the one that "workflow new" writes',
  why: 'A client that looks for a workflow compares what its user wants with the examples.',
  hint: 'Write one to six "examples": goals as a user would type them.',
  // A routine is called by workflows, not by people.
  find: ({ syntax, kind }) =>
    kind === 'routine' || syntax.examples.some((one) => one !== UNWRITTEN.example)
      ? []
      : syntax.examples.length > 0
        ? [
            {
              at: '/examples',
              message: 'The only example is still the one of the template. Write goals of your users.',
            },
          ]
        : [
            {
              at: '/name',
              message: 'The workflow has no valid "examples", so an agent cannot tell which goals it fits.',
            },
          ],
};

/** Where phrases of plain words stand in a file: letters and spaces look the same in a text and in its JSON. */
function spansOf(
  { span, value }: SourceText,
  pattern: RegExp,
  text: string,
): readonly { readonly phrase: string; readonly span: SourceSpan }[] {
  let from = span.offset;
  return [...value.matchAll(pattern)].map(([phrase]) => {
    const offset = text.indexOf(phrase, from);
    from = offset + phrase.length;
    return { phrase, span: { offset, length: phrase.length } };
  });
}
