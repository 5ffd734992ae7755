import { canonicalLength } from '../../json/canonical-json.ts';
import { defined, isList, isObject, type JsonObject, type JsonValue, ownValue, quote } from '../../json/json-value.ts';
import { clip } from '../../text/utf8.ts';
import { type Accepted, type ArtifactViolation, checkShape } from '../../workflow/builtins/check-artifact.ts';
import { type Contract, pinnedContract } from '../../workflow/builtins/contract.ts';
import { contractOfKind } from '../../workflow/builtins/contracts.ts';
import { contractFix, missingMessage, violationMessage } from '../../workflow/builtins/explain-violations.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { blank, blankWords } from '../form/blank.ts';
import { contractForm, correctedForm } from '../form/contract-form.ts';
import type { HandedArtifact, StepPlace } from '../step-place.ts';
import type { AskedArtifact, Unmet, UnreadableArtifact } from './requirement.ts';

/** The result of checking the artifacts that could meet a contract. */
export type ArtifactVerdict =
  | { readonly kind: 'missing' }
  | { readonly kind: 'accepted'; readonly value: JsonObject; readonly notes: Accepted['notes'] }
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly value: JsonObject;
      /** Where it does not have the shape; none where it makes no sense at this place. */
      readonly violations: readonly ArtifactViolation[];
      /** Whether the agent's own values are right as far as they go. */
      readonly isKept?: true;
    };

/** A problem with an artifact beyond its form, as part of a sentence. */
export type Objection = (value: JsonObject) => string | undefined;

/** One accepted artifact is enough, and the last of them counts; otherwise the last one is explained. */
export function judgeArtifacts(
  artifacts: readonly HandedArtifact[],
  contract: PinnedContract,
  objection: Objection = () => undefined,
): ArtifactVerdict {
  const verdicts = artifacts.map(({ value }) => judgeArtifact(value, contract, objection));
  return verdicts.findLast(({ kind }) => kind === 'accepted') ?? verdicts.at(-1) ?? { kind: 'missing' };
}

function judgeArtifact(value: JsonObject, contract: PinnedContract, objection: Objection): ArtifactVerdict {
  const checked = checkShape(contract.schema, value);
  if (checked.isErr()) {
    const message = violationMessage(contract, checked.error);
    return { kind: 'refused', message, value, violations: checked.error };
  }
  const against = objection(checked.value.value);
  if (against === undefined) return { kind: 'accepted', ...checked.value };
  const message = `The ${clip(contract.artifactKind)} artifact was not accepted: ${against}.`;
  return { kind: 'refused', message, value, violations: [] };
}

export function ofKind(artifacts: readonly HandedArtifact[], artifactKind: string): readonly HandedArtifact[] {
  return artifacts.filter(({ kind }) => kind === artifactKind);
}

/** A contract that the engine itself reads: as the run pinned it, or else as it is today. */
export function engineContract({ contracts }: WorkflowIndex, builtin: Contract): PinnedContract {
  return contracts.get(builtin.contractRef) ?? pinnedContract(builtin);
}

/** Whether a contract of this run or a built-in one is about such artifacts. */
export function isKnownKind({ contracts }: WorkflowIndex, kind: string): boolean {
  return (
    contractOfKind(kind) !== undefined || [...contracts.values()].some(({ artifactKind }) => artifactKind === kind)
  );
}

/** What to send instead of an artifact that was not accepted: the agent's own values, with blanks where they are wrong. */
export function correctedArtifact(
  verdict: UnacceptedArtifact,
  { contract, form }: Pick<AskedArtifact, 'contract' | 'form'>,
): JsonObject {
  if (verdict.kind === 'missing' || (verdict.violations.length === 0 && verdict.isKept === undefined)) return form;
  const { value, violations } = verdict;
  return canonicalLength(value) > OWN_VALUES_BYTES_MAX ? form : correctedForm(contract, value, { violations, form });
}

/** The ids of a list in context: what each entry begins with, such as `AC1`. */
export function idsIn(value: JsonValue | undefined, prefix: string): readonly string[] {
  const begins = new RegExp(`^[\\s*_\`"'([-]*(${prefix}\\d{1,4})`, 'iu');
  const entries = value !== undefined && isList(value) ? value : [];
  const ids = entries.flatMap((entry) => {
    const [whole = '', id] = typeof entry === 'string' ? (begins.exec(entry) ?? []) : [];
    return id === undefined || isWordAt(String(entry), whole.length) ? [] : [id];
  });
  return [...new Set(ids.map((id) => id.toUpperCase()))].slice(0, IDS_MAX);
}

/** More ids would not fit into a form. */
export const IDS_MAX = 60;

type Account = { readonly key: string; readonly in: string; readonly ids: readonly string[] };

/** What a step has to account for at this place; lists that are empty or unset ask for nothing. */
export function accountsAt({ step, facts }: Pick<StepPlace, 'step' | 'facts'>): readonly Account[] {
  const all = (step.accountsFor ?? []).map(({ key, prefix, in: where }) => ({
    key,
    in: where,
    ids: idsIn(ownValue(facts.context, key), prefix),
  }));
  return all.filter(({ ids }) => ids.length > 0);
}

/** Whether a text names an id as a word of its own. */
export function namesId(text: string, id: string): boolean {
  return [...text.matchAll(new RegExp(id, 'giu'))].some(
    ({ 0: { length }, index }) => !isWordAt(text, index - 1) && !isWordAt(text, index + length),
  );
}

/**
 * Whether the character at a place is part of a word. The engine takes longer to prepare a pattern with classes of all
 * scripts than for everything else that is done with an id, so such a pattern is used for other characters only.
 */
function isWordAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return /\w/.test(text.charAt(at));
  if (Number.isNaN(unit)) return false;
  // The second half of a pair is a character only together with the first.
  const isSecondHalf = (text.codePointAt(at - 1) ?? 0) > 0xffff;
  return /^[\p{L}\p{N}]/u.test(text.slice(isSecondHalf ? at - 1 : at, at + 2));
}

/** Ids that no entry of any list of an artifact names, with the list that they belong in. */
export function unaccounted(
  value: JsonObject,
  place: Pick<StepPlace, 'step' | 'facts'>,
): readonly { readonly list: string; readonly id: string }[] {
  const texts = Object.values(value)
    .flatMap((one) => (one !== undefined && isList(one) ? one : []))
    .map(quote);
  return accountsAt(place)
    .filter((account) => account.in !== NOTES_PLACE)
    .flatMap((account) => account.ids.map((id) => ({ list: account.in, id })))
    .filter(({ id }) => !texts.some((text) => namesId(text, id)));
}

/** Where an account belongs that is written in the notes. */
export const NOTES_PLACE = 'notes';

/** An artifact with an entry to fill in for each id that it does not account for. */
export function withAccounts(
  artifact: JsonObject,
  contract: PinnedContract,
  place: Pick<StepPlace, 'step' | 'facts'>,
): JsonObject {
  const missing = unaccounted(artifact, place);
  if (missing.length === 0) return artifact;
  const offered = contractForm(contract);
  const lists = [...new Set(missing.map(({ list }) => list))].map((list) => {
    const entry = firstOf(offered[list]);
    const own = artifact[list];
    // The entry of a form stands for any number of them.
    const kept = (own !== undefined && isList(own) ? own : []).filter((one) => quote(one) !== quote(entry));
    const ids = missing.filter((one) => one.list === list).map(({ id }) => id);
    return [list, [...kept, ...ids.map((id) => entryFor(id, entry))]] as const;
  });
  return { ...artifact, ...Object.fromEntries(lists) };
}

function firstOf(list: JsonValue | undefined): JsonValue {
  return (list !== undefined && isList(list) ? list[0] : undefined) ?? blank('the result for it');
}

/** An entry of a list for one id: a name is the id itself, other texts begin with it. */
function entryFor(id: string, entry: JsonValue): JsonValue {
  if (!isObject(entry)) return blank(`${id}: ${blankWords(quote(entry))[0] ?? 'the result for it'}`);
  const fields = entry as JsonObject;
  const own = ['id', 'name'].find((name) => Object.hasOwn(fields, name));
  if (own !== undefined) return { ...fields, [own]: id };
  const named = SUBJECTS.find((name) => typeof fields[name] === 'string');
  const field = named ?? Object.keys(fields).find((name) => isFreeText(fields[name])) ?? 'name';
  const words = blankWords(quote(fields[field] ?? ''))[0] ?? 'the result for it';
  return { ...fields, [field]: blank(`${id}: ${words}`) };
}

/** Fields that say what an entry is about, so that an id belongs in front of them. */
const SUBJECTS = ['criterion', 'title', 'summary', 'question', 'failure', 'mistake', 'claim', 'action', 'path'];

/** Whether a field takes any words: an id in front of a listed value would make it invalid. */
function isFreeText(field: JsonValue | undefined): boolean {
  return typeof field === 'string' && !(blankWords(field)[0] ?? '').includes(' | ');
}

/** A larger artifact is not repeated: the agent still has it. */
const OWN_VALUES_BYTES_MAX = 4096;

export type UnacceptedArtifact = Exclude<ArtifactVerdict, { kind: 'accepted' }>;

/** The words for an artifact that is missing or was not accepted. */
export function explainArtifact(
  verdict: UnacceptedArtifact,
  { contract }: Pick<AskedArtifact, 'contract'>,
  sent: readonly HandedArtifact[],
): Pick<Unmet, 'reason' | 'pointer' | 'message' | 'suggestedFix'> {
  const isMissing = verdict.kind === 'missing';
  return {
    reason: `contract_violation:${isMissing ? 'missing' : 'invalid'}_required_output`,
    pointer: { kind: 'output_contract', contractRef: contract.contractRef },
    message: isMissing ? `${missingMessage(contract)}${mistakenKind(sent)}` : verdict.message,
    suggestedFix: contractFix(contract),
  };
}

/** How the prompt asks for an artifact. */
export function artifactAsk({ contract, hints }: Pick<AskedArtifact, 'contract' | 'hints'>): string {
  return [contract.guidance, ...hints.map((hint) => `Hint: ${hint}`)].join('\n');
}

/** The author's hints for an artifact, where the step declares its contract. */
export function hintsFor(contractRef: string, { output }: CompiledStep): readonly string[] {
  return output?.contractRef === contractRef ? output.hints : [];
}

/** Agents often get the form right but forget or misspell `kind`. */
function mistakenKind(sent: readonly HandedArtifact[]): string {
  const stray = sent.find(({ kind }) => kind === undefined || contractOfKind(kind) === undefined);
  if (stray === undefined) return '';
  return stray.kind === undefined
    ? ' The artifact without "kind" does not count.'
    : ` The artifact of kind ${clip(quote(stray.kind))} does not count.`;
}

/** What the engine reads from artifacts, whether or not a step asks for them. */
export type ArtifactsRead<Value> = {
  readonly read: readonly Value[];
  readonly unreadable: readonly UnreadableArtifact[];
};

type Reader<Value> = {
  readonly objection: Objection;
  /** `undefined` where a valid artifact holds nothing to use. */
  readonly take: (value: JsonObject) => Value | undefined;
};

export function readArtifacts<Value>(
  artifacts: readonly HandedArtifact[],
  contract: PinnedContract,
  { objection, take }: Reader<Value>,
): ArtifactsRead<Value> {
  const read: Value[] = [];
  const unreadable: UnreadableArtifact[] = [];
  const { artifactKind } = contract;
  for (const { value } of ofKind(artifacts, artifactKind)) {
    const verdict = judgeArtifact(value, contract, objection);
    if (verdict.kind === 'refused') {
      // What makes no sense at this place has no better form.
      const isFixable = verdict.violations.length > 0;
      const corrected = isFixable ? correctedArtifact(verdict, { contract, form: contractForm(contract) }) : undefined;
      unreadable.push({ artifactKind, message: verdict.message, ...defined({ corrected }) });
    }
    const taken = verdict.kind === 'accepted' ? take(verdict.value) : undefined;
    if (taken !== undefined) read.push(taken);
  }
  return { read, unreadable };
}
