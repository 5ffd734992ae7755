import { err, ok, type Result } from 'neverthrow';
import type { Sha256 } from '../../json/canonical-bytes.ts';
import { truncate, utf8Length } from '../../text/utf8.ts';
import { ARTIFACT_BYTES_MAX, ARTIFACTS_PER_CALL_MAX, NOTE_BYTES_MAX } from '../budgets.ts';
import type { DraftOf } from '../event.ts';
import type { ArtifactDigest, NodeId, RunId } from '../ids.ts';
import { type Attempt, outputId } from './derived-ids.ts';

/** What an agent sends. Empty notes count as none. */
export type StepOutput = {
  readonly notesMarkdown?: string | undefined;
  readonly artifacts: readonly ArtifactRef[];
};

/** An artifact whose bytes are in the artifact store. */
export type ArtifactRef = {
  readonly sha256: ArtifactDigest;
  readonly contentType: string;
  readonly byteLength: number;
};

export type OutputDrafts = {
  readonly drafts: readonly DraftOf<'node_output_appended'>[];
  /** The reply must say so. */
  readonly isNoteCut: boolean;
};

/** The outputs of one operation: the note first, then artifacts by digest and content type, each once. */
export function outputDrafts(
  output: StepOutput,
  from: { readonly attempt: Attempt; readonly created: { readonly runId: RunId; readonly nodeId: NodeId } },
  sha256: Sha256,
): OutputDrafts {
  // A lone surrogate cannot be stored. Without this, one bad character would refuse the whole note.
  const notes = (output.notesMarkdown ?? '').toWellFormed();
  const head = { kind: 'node_output_appended', scope: from.created } as const;
  const recap = {
    outputId: outputId(from.attempt, { payloadKind: 'notes', place: 0 }, sha256),
    outputChannel: 'recap',
    payload: { payloadKind: 'notes', notesMarkdown: truncate(notes, NOTE_BYTES_MAX) },
  } as const;
  const artifacts = inStoredOrder(output.artifacts).map((artifact, place) => ({
    ...head,
    data: {
      outputId: outputId(from.attempt, { payloadKind: 'artifact_ref', place }, sha256),
      outputChannel: 'artifact' as const,
      payload: { payloadKind: 'artifact_ref' as const, ...artifact },
    },
  }));
  return {
    drafts: [...(notes === '' ? [] : [{ ...head, data: recap }]), ...artifacts],
    isNoteCut: utf8Length(notes) > NOTE_BYTES_MAX,
  };
}

export type ArtifactRefusal =
  | { readonly code: 'too_many_artifacts'; readonly count: number; readonly max: number }
  | {
      readonly code: 'artifact_too_large';
      readonly position: number;
      readonly bytes: number;
      readonly bytesMax: number;
    };

/** Checks the artifacts of one call. One that is too large is refused, never cut: half a JSON document is useless. */
export function checkArtifacts(byteLengths: readonly number[]): Result<void, ArtifactRefusal> {
  if (byteLengths.length > ARTIFACTS_PER_CALL_MAX) {
    return err({ code: 'too_many_artifacts', count: byteLengths.length, max: ARTIFACTS_PER_CALL_MAX });
  }
  const position = byteLengths.findIndex((bytes) => bytes > ARTIFACT_BYTES_MAX);
  const bytes = byteLengths[position];
  if (bytes === undefined) return ok(undefined);
  return err({ code: 'artifact_too_large', position, bytes, bytesMax: ARTIFACT_BYTES_MAX });
}

function inStoredOrder(artifacts: readonly ArtifactRef[]): readonly ArtifactRef[] {
  const byRank = new Map(artifacts.map((artifact) => [`${artifact.sha256} ${artifact.contentType}`, artifact]));
  return [...byRank].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, artifact]) => artifact);
}
