import { digestHex } from '../../src/core/json/canonical-json.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { type Autonomy, PRESETS } from '../../src/core/log/autonomy.ts';
import type { Capability, CapabilityStatus } from '../../src/core/log/blockers.ts';
import type { DraftOf, EventDraft, EventKind, EventOf } from '../../src/core/log/event.ts';
import type { CapabilityProvenance } from '../../src/core/log/events/gap-events.ts';
import { OBSERVATION_KEYS, type ObservationData, type ObservationKey } from '../../src/core/log/events/run-events.ts';
import {
  type ArtifactDigest,
  AttestationId,
  CapabilityObservationId,
  ContextId,
  DivergenceId,
  derivedBits,
  GapId,
  type NodeId,
  OutputId,
  PreferenceChangeId,
  type RunId,
  stepIdSchema,
  TraceId,
} from '../../src/core/log/ids.ts';
import type { GapReason } from '../../src/core/log/reasons.ts';
import { digest, sha256 } from '../examples/sha256.ts';

/** What an operation records on one node. Names stand for ids and are used once in a session. */
export type NodeFacts = {
  readonly note?: { readonly name: string; readonly text: string; readonly supersedes?: string };
  readonly artifacts?: readonly { readonly name: string; readonly supersedes?: string }[];
  readonly context?: JsonObject;
  readonly mode?: Autonomy;
  readonly gaps?: readonly GapFact[];
  readonly capability?: CapabilityFact;
  readonly trace?: string;
  readonly others?: readonly OtherKind[];
  readonly observed?: { readonly [key in ObservationKey]?: string };
};

/** Kinds that are recorded on a node and need only one form here, at most once for each node. */
const OTHER_DRAFTS = {
  divergence_recorded: (scope: Place, bits: Uint8Array): DraftOf<'divergence_recorded'> => {
    const data = {
      divergenceId: DivergenceId.of(bits),
      reason: 'efficiency_skip',
      summary: 'not needed here',
    } as const;
    return { kind: 'divergence_recorded', scope, data };
  },
  attestation_recorded: (scope: Place, bits: Uint8Array): DraftOf<'attestation_recorded'> => {
    const data = {
      attestationId: AttestationId.of(bits),
      subject: { kind: 'attempt', digest: `sha256:${'a'.repeat(64)}` },
      statement: { kind: 'approved', shown: 'whole' },
      by: { via: 'terminal', launch: 'launch', askedAt: 0, answerMs: 2_000 },
    } as const;
    return { kind: 'attestation_recorded', scope, data };
  },
  step_skipped: (scope: Place): DraftOf<'step_skipped'> => {
    const data = { stepId: stepIdSchema.parse('optional'), loopPath: [] };
    return { kind: 'step_skipped', scope, data, keyOnly: { ordinal: 0 } };
  },
};
type OtherKind = keyof typeof OTHER_DRAFTS;
export const OTHER_KINDS = Object.keys(OTHER_DRAFTS) as readonly OtherKind[];

type FactKind = Exclude<
  EventKind,
  'session_created' | 'observation_recorded' | 'run_started' | 'edge_created' | 'node_created' | 'advance_recorded'
>;

/** One fact of every kind that can be recorded on a node that is there. */
export const ONE_FACT: { readonly [kind in FactKind]: NodeFacts } = {
  node_output_appended: { note: { name: 'n', text: 'n' } },
  preferences_changed: { mode: 'guided' },
  capability_observed: { capability: { capability: 'delegation', status: 'available', grade: 'weak' } },
  gap_recorded: { gaps: [{ name: 'g' }] },
  context_set: { context: { a: 1 } },
  decision_trace_appended: { trace: 'why' },
  ...(Object.fromEntries(OTHER_KINDS.map((kind): [OtherKind, NodeFacts] => [kind, { others: [kind] }])) as {
    readonly [kind in OtherKind]: NodeFacts;
  }),
};

export type GapFact = {
  readonly name: string;
  readonly resolves?: string;
  readonly severity?: EventOf<'gap_recorded'>['data']['severity'];
  readonly reason?: GapReason;
};

/** Only a probe may leave open whether there is a capability. */
export type CapabilityFact = { readonly capability: Capability } & (
  | { readonly grade: 'strong'; readonly status: CapabilityStatus }
  | { readonly grade: 'weak'; readonly status: ClaimedStatus }
);
type ClaimedStatus = Exclude<CapabilityStatus, 'unknown'>;

export type Place = { readonly runId: RunId; readonly nodeId: NodeId };

export const gapIdOf = (name: string) => GapId.of(derivedBits(['gap', name], sha256));
export const outputIdOf = (name: string) => OutputId.of(derivedBits(['output', name], sha256));

/** The bytes of an artifact follow from its name. */
export function artifactBytes(name: string): Uint8Array {
  return Buffer.from(JSON.stringify({ name }));
}

export function artifactDigest(name: string): ArtifactDigest {
  return digest(artifactBytes(name)) as string as ArtifactDigest;
}

/** The drafts of a node's facts, in the order an engine writes them. `salt` tells plans apart. */
export function factDrafts(scope: Place, facts: NodeFacts, salt: number): readonly EventDraft[] {
  const bits = derivedBits(['fact', scope.nodeId, salt], sha256);
  return [
    ...outputDrafts(scope, facts),
    ...(facts.context === undefined ? [] : [contextDraft(scope, facts.context, bits)]),
    ...(facts.mode === undefined ? [] : [preferencesDraft(scope, facts.mode, bits)]),
    ...(facts.capability === undefined ? [] : [capabilityDraft(scope, facts.capability, bits)]),
    ...(facts.gaps ?? []).map((gap) => gapDraft(scope, gap)),
    ...(facts.trace === undefined ? [] : [traceDraft(scope, facts.trace, bits)]),
    ...(facts.others ?? []).map((kind) => OTHER_DRAFTS[kind](scope, bits)),
    ...observationDrafts(scope.nodeId, facts.observed ?? {}),
  ];
}

function outputDrafts(scope: Place, { note, artifacts = [] }: NodeFacts): readonly EventDraft[] {
  const notes: readonly DraftOf<'node_output_appended'>[] =
    note === undefined
      ? []
      : [
          {
            kind: 'node_output_appended',
            scope,
            data: {
              ...outputLink(note),
              outputChannel: 'recap',
              payload: { payloadKind: 'notes', notesMarkdown: note.text },
            },
          },
        ];
  const sorted = [...artifacts].sort((a, b) => (artifactDigest(a.name) < artifactDigest(b.name) ? -1 : 1));
  return [...notes, ...sorted.map((artifact) => artifactDraft(scope, artifact))];
}

function artifactDraft(
  scope: Place,
  artifact: { readonly name: string; readonly supersedes?: string },
): DraftOf<'node_output_appended'> {
  const payload = {
    payloadKind: 'artifact_ref',
    sha256: artifactDigest(artifact.name),
    contentType: 'application/json',
    byteLength: artifactBytes(artifact.name).length,
  } as const;
  return {
    kind: 'node_output_appended',
    scope,
    data: { ...outputLink(artifact), outputChannel: 'artifact', payload },
  };
}

function outputLink({ name, supersedes }: { readonly name: string; readonly supersedes?: string }) {
  const outputId = outputIdOf(name);
  return supersedes === undefined ? { outputId } : { outputId, supersedesOutputId: outputIdOf(supersedes) };
}

function contextDraft(scope: Place, context: JsonObject, bits: Uint8Array): DraftOf<'context_set'> {
  return { kind: 'context_set', scope, data: { contextId: ContextId.of(bits), context, source: 'agent_delta' } };
}

function preferencesDraft(scope: Place, mode: Autonomy, bits: Uint8Array): DraftOf<'preferences_changed'> {
  const effective = PRESETS[mode];
  const delta = [
    { key: 'autonomy' as const, value: effective.autonomy },
    { key: 'riskPolicy' as const, value: effective.riskPolicy },
  ];
  const changeId = PreferenceChangeId.of(bits);
  return { kind: 'preferences_changed', scope, data: { changeId, source: 'user', delta, effective } };
}

function capabilityDraft(scope: Place, fact: CapabilityFact, bits: Uint8Array): DraftOf<'capability_observed'> {
  const { capability, status } = fact;
  const provenance = fact.grade === 'strong' ? probed(fact.status) : claimed(fact.status);
  const capObsId = CapabilityObservationId.of(bits);
  return { kind: 'capability_observed', scope, data: { capObsId, capability, status, provenance } };
}

function probed(status: CapabilityStatus): CapabilityProvenance {
  const result = status === 'available' ? 'success' : 'failure';
  const detail = { probeTemplateId: 'wr.templates.probe', probeStepId: stepIdSchema.parse('probe'), result } as const;
  return { kind: 'probe_step', enforcementGrade: 'strong', detail };
}

function claimed(claim: ClaimedStatus): CapabilityProvenance {
  return { kind: 'manual_claim', enforcementGrade: 'weak', detail: { claimedBy: 'agent', claim } };
}

function gapDraft(scope: Place, gap: GapFact): DraftOf<'gap_recorded'> {
  const reason = gap.reason ?? { category: 'contract_violation', detail: 'missing_required_output' };
  return {
    kind: 'gap_recorded',
    scope,
    data: {
      gapId: gapIdOf(gap.name),
      severity: gap.severity ?? 'critical',
      reason,
      summary: `gap ${gap.name}`,
      resolution:
        gap.resolves === undefined
          ? { kind: 'unresolved' }
          : { kind: 'resolves', resolvesGapId: gapIdOf(gap.resolves) },
    },
  };
}

function traceDraft(scope: Place, summary: string, bits: Uint8Array): DraftOf<'decision_trace_appended'> {
  const entries = [{ kind: 'selected_next_step' as const, summary }];
  return { kind: 'decision_trace_appended', scope, data: { traceId: TraceId.of(bits), entries } };
}

function observationDrafts(observedFor: NodeId, observed: { readonly [key in ObservationKey]?: string }): EventDraft[] {
  return OBSERVATION_KEYS.flatMap((key) => {
    const text = observed[key];
    if (text === undefined) return [];
    const data = observation(key, text);
    const valueDigest = digestHex(digest(JSON.stringify(data.value)));
    return [{ kind: 'observation_recorded', data, keyOnly: { observedFor, valueDigest } } as const];
  });
}

/** A text stands for a hash where the key asks for one. */
function observation(key: ObservationKey, text: string): ObservationData {
  const hash = digest(text);
  switch (key) {
    case 'git_branch':
      return { key, value: { type: 'short_string', value: text }, confidence: 'high' };
    case 'git_head_sha':
      return { key, value: { type: 'git_sha1', value: digestHex(hash).slice(0, 40) }, confidence: 'high' };
    case 'repo_root_hash':
      return { key, value: { type: 'sha256', value: hash }, confidence: 'high' };
    case 'repo_root':
    case 'repo_remote':
      return { key, value: { type: 'path', value: text }, confidence: 'high' };
  }
}
