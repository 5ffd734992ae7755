import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { digestOf, RUN, SECOND, SESSION, TO_SECOND } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { parseEvent, placeEvents } from '../event.ts';
import { type ArtifactDigest, artifactDigestSchema } from '../ids.ts';
import { outputId } from './derived-ids.ts';
import { type ArtifactRef, checkArtifacts, outputDrafts, type StepOutput } from './output-drafts.ts';

const from = { attempt: TO_SECOND, created: { runId: RUN, nodeId: SECOND } };
const draftsOf = (output: StepOutput) => outputDrafts(output, from, sha256);
const artifact = (name: string, contentType = 'application/json'): ArtifactRef => ({
  sha256: artifactDigestSchema.parse(digestOf(name)),
  contentType,
  byteLength: name.length,
});

test('the note is stored first, then artifacts by digest and content type, each with its own id', () => {
  enforces('output_order_in_one_operation', 'output_id_derived_from_attempt');
  const digest = (fill: string) => `sha256:${fill.repeat(64)}` as ArtifactDigest;
  const [a, b, c] = [
    { sha256: digest('0'), contentType: 'application/json', byteLength: 1 },
    { sha256: digest('0'), contentType: 'text/plain', byteLength: 2 },
    { sha256: digest('1'), contentType: 'application/json', byteLength: 3 },
  ];
  const head = { kind: 'node_output_appended', scope: { runId: RUN, nodeId: SECOND } };
  const stored = (ref: ArtifactRef, place: number) => ({
    ...head,
    data: {
      outputId: outputId(TO_SECOND, { payloadKind: 'artifact_ref', place }, sha256),
      outputChannel: 'artifact',
      payload: { payloadKind: 'artifact_ref', ...ref },
    },
  });
  expect(draftsOf({ notesMarkdown: 'Done.', artifacts: [c, b, a, c] })).toEqual({
    drafts: [
      {
        ...head,
        data: {
          outputId: outputId(TO_SECOND, { payloadKind: 'notes', place: 0 }, sha256),
          outputChannel: 'recap',
          payload: { payloadKind: 'notes', notesMarkdown: 'Done.' },
        },
      },
      stored(a, 0),
      stored(b, 1),
      stored(c, 2),
    ],
    isNoteCut: false,
  });
});

test.each([undefined, ''])('no note (%j) leaves only artifacts', (notesMarkdown) => {
  expect(draftsOf({ notesMarkdown, artifacts: [] })).toEqual({ drafts: [], isNoteCut: false });
  const [only] = draftsOf({ notesMarkdown, artifacts: [artifact('a')] }).drafts;
  expect(only?.data.outputChannel).toBe('artifact');
});

test('a note of 64 KiB is kept whole; a longer one is cut with the marker and reported as cut', () => {
  enforces('notes_kept_whole_to_64k');
  const whole = 'é'.repeat(32_768);
  expect(noteOf(whole)).toEqual([whole, false]);
  expect(noteOf(`${whole}!`)).toEqual([`${'é'.repeat(32_761)}\n\n[TRUNCATED]`, true]);
});

test('a lone surrogate does not refuse the whole note', () => {
  expect(noteOf('a\ud800b')).toEqual(['a\ufffdb', false]);
});

test('outputs are stored in the same order however they are sent', () => {
  enforces('output_id_derived_from_attempt', 'output_order_in_one_operation');
  const refs = fc.array(
    fc.constantFrom('a', 'b', 'c', 'd').map((name) => artifact(name)),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(refs, fc.string({ unit: 'binary' }), (artifacts, notesMarkdown) => {
      const { drafts } = draftsOf({ notesMarkdown, artifacts });
      expect(draftsOf({ notesMarkdown, artifacts: artifacts.toReversed() }).drafts).toEqual(drafts);
      const events = placeEvents(drafts, { sessionId: SESSION, firstEventIndex: 0 }, sha256);
      expect(events.filter((event) => parseEvent(event).isErr())).toEqual([]);
    }),
  );
});

test('a call may send at most 32 artifacts of at most 256 KiB each', () => {
  expect(checkArtifacts(Array(32).fill(262_144))).toEqual(ok(undefined));
  expect(checkArtifacts([])).toEqual(ok(undefined));
  expect(checkArtifacts(Array(33).fill(1))).toEqual(err({ code: 'too_many_artifacts', count: 33, max: 32 }));
  expect(checkArtifacts([1, 262_145])).toEqual(
    err({ code: 'artifact_too_large', position: 1, bytes: 262_145, bytesMax: 262_144 }),
  );
});

function noteOf(notesMarkdown: string): readonly unknown[] {
  const { drafts, isNoteCut } = draftsOf({ notesMarkdown, artifacts: [] });
  const data = drafts[0]?.data;
  return [data?.outputChannel === 'recap' && data.payload.notesMarkdown, isNoteCut];
}
