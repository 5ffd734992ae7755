import { canonicalLength } from '../../json/canonical-json.ts';
import { defined, type JsonObject, quote } from '../../json/json-value.ts';
import { clip } from '../../text/utf8.ts';
import { type Accepted, type ArtifactViolation, checkShape } from '../../workflow/builtins/check-artifact.ts';
import { type Contract, pinnedContract } from '../../workflow/builtins/contract.ts';
import { contractOfKind } from '../../workflow/builtins/contracts.ts';
import { contractFix, missingMessage, violationMessage } from '../../workflow/builtins/explain-violations.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { contractForm, correctedForm } from '../form/contract-form.ts';
import type { HandedArtifact } from '../step-place.ts';
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
  if (verdict.kind === 'missing' || verdict.violations.length === 0) return form;
  const { value, violations } = verdict;
  return canonicalLength(value) > OWN_VALUES_BYTES_MAX ? form : correctedForm(contract, value, { violations, form });
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
