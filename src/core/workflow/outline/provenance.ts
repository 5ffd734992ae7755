import { ownJsonBytes, type Sha256 } from '../../json/canonical-json.ts';
import type { CompiledData, PieceData } from '../../wire/workflow-shapes.ts';
import { features, STEP_SELECTORS, type StepFacts, standingRules, stepGuidance } from '../builtins/features.ts';
import { refs } from '../builtins/refs.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { sealWorkflow } from '../compiled/sealed-workflow.ts';
import { sourceHash, type WorkflowOrigin } from '../drift.ts';

/** What a run is pinned to, with what put each text there that the author of the file did not write. */
export function compiledData(workflow: CompiledWorkflow, origin: WorkflowOrigin, sha256: Sha256): CompiledData {
  const { hash, bytes } = sealWorkflow(workflow, sha256);
  const added = featureTexts(workflow);
  return {
    hash,
    bytes: bytes.length,
    sourceHash: sourceHash(origin, sha256),
    inputs: inputsOf(workflow, origin, sha256),
    rules: workflow.metaGuidance.flatMap((text, i) => {
      const from = added.get(text) ?? originAt(workflow, `/metaGuidance/${i}`);
      return pieces([{ text, ...(from && { from }) }], boundTexts(workflow, `/metaGuidance/${i}`));
    }),
    steps: workflow.steps.map((step, i) => ({
      id: step.stepId,
      title: step.title,
      pieces: stepPieces(step, { added, bound: boundTexts(workflow, `/steps/${i}/`) }),
      ...(step.checks && {
        checks: step.checks.map(({ checkId, run, minimum }) => ({ id: checkId, command: run, minimum })),
      }),
    })),
    contracts: workflow.contracts.map((contract) => ({
      ...contract,
      steps: workflow.steps
        .filter(({ output }) => output?.contractRef === contract.contractRef)
        .map(({ stepId }) => stepId),
    })),
  };
}

type From = NonNullable<PieceData['from']>;
type Known = { readonly text: string; readonly from: From };

/** The digest of a source is made of these; each has one of its own, so that one can see which of them changed. */
function inputsOf({ workflowId }: CompiledWorkflow, origin: WorkflowOrigin, sha256: Sha256): CompiledData['inputs'] {
  const { text, routines, slotIds, bindings } = origin;
  const digest = (content: string) => sha256(ownJsonBytes(content.toWellFormed()));
  return [
    { kind: 'workflow', name: workflowId, digest: digest(text) },
    ...[...routines].map(([name, routine]) => ({ kind: 'routine' as const, name, digest: digest(routine) })),
    ...slotIds.flatMap((name) => {
      const bound = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
      return bound === undefined ? [] : [{ kind: 'project_binding' as const, name, digest: digest(bound) }];
    }),
  ];
}

const EVERY_STEP = Object.fromEntries(STEP_SELECTORS.map((selector) => [selector, true])) as StepFacts;

/** The texts that the features of a workflow add, filled as the workflow configures them. */
function featureTexts(workflow: CompiledWorkflow): ReadonlyMap<string, From> {
  const texts = workflow.features.flatMap(({ featureId, config = {} }) => {
    const feature = features.find(featureId);
    if (feature === undefined) return [];
    const from: From = { kind: 'feature', id: featureId };
    return [...standingRules(feature, config), ...stepGuidance(feature, EVERY_STEP, config)].map(
      (text) => [text, from] as const,
    );
  });
  return new Map(texts);
}

function originAt({ origins = [] }: CompiledWorkflow, pointer: string): From | undefined {
  const origin = origins.find((one) => one.pointer === pointer && one.source === undefined);
  if (origin === undefined) return undefined;
  return { kind: features.find(origin.originId) === undefined ? 'template' : 'feature', id: origin.originId };
}

function boundTexts({ origins = [] }: CompiledWorkflow, pointer: string): readonly Known[] {
  return origins.flatMap(({ source, text, originId, pointer: at }) =>
    source === 'project_binding' && text !== undefined && text !== '' && at.startsWith(pointer)
      ? [{ text, from: { kind: 'project_binding', id: originId } as const }]
      : [],
  );
}

type Around = { readonly added: ReadonlyMap<string, From>; readonly bound: readonly Known[] };

function stepPieces(
  { prompt, guidance, fragments, provenance, refs: used }: CompiledStep,
  around: Around,
): PieceData[] {
  const whole: From | undefined =
    provenance.source === 'authored'
      ? undefined
      : { kind: provenance.source === 'template_injected' ? 'template' : 'feature', id: provenance.originId };
  const known: readonly Known[] = [
    ...used.flatMap(({ refId }) => {
      const text = refs.find(refId)?.text;
      return text === undefined ? [] : [{ text, from: { kind: 'ref', id: refId } as const }];
    }),
    ...around.bound,
  ];
  const piece = (text: string, from = whole): PieceData => ({ text, ...(from && { from }) });
  return pieces(
    [
      piece(prompt),
      ...guidance.map((text) => piece(text, around.added.get(text) ?? whole)),
      ...fragments.map(({ text }) => piece(text)),
    ].filter(({ text }) => text !== ''),
    known,
  );
}

/** Cuts texts where a known one begins and ends. */
function pieces(texts: readonly PieceData[], known: readonly Known[]): PieceData[] {
  return known.reduce<readonly PieceData[]>((parts, one) => parts.flatMap((part) => cut(part, one)), texts).slice();
}

function cut(piece: PieceData, known: Known): readonly PieceData[] {
  const at = piece.text.indexOf(known.text);
  if (at === -1) return [piece];
  const rest = (text: string): readonly PieceData[] => (text === '' ? [] : [{ ...piece, text }]);
  const after = piece.text.slice(at + known.text.length);
  return [...rest(piece.text.slice(0, at)), known, ...(after === '' ? [] : cut({ ...piece, text: after }, known))];
}
