import type { EventKind, SessionEvent } from '../../src/core/log/event.ts';
import type { FieldRules } from './single-field-changes.ts';

const ANY_LENGTH = Number.POSITIVE_INFINITY;

/** What single-field changes need to know about the fields of an event. */
export function eventFields(event: SessionEvent): FieldRules {
  if (event.kind !== 'observation_recorded') return EVENT_FIELDS;
  const bytesMax = { short_string: 80, path: 512, git_sha1: undefined, sha256: undefined }[event.data.value.type];
  return bytesMax === undefined ? EVENT_FIELDS : { ...EVENT_FIELDS, texts: { '/data/value/value': bytesMax } };
}

const EVENT_FIELDS: FieldRules = {
  opaque: ['/data/context', '/data/details', '/data/reply/structured', '/data/outcome/blockers/*/details'],
  free: ['/data/statement/value'],
  nullable: ['/data/parentNodeId', '/data/statement/exitCode', '/data/statement/base/exitCode'],
  texts: {
    '/data/summary': 512,
    '/data/entries/*/summary': 512,
    '/data/outcome/blockers/*/message': 512,
    '/data/outcome/blockers/*/suggestedFix': 1024,
    '/data/payload/notesMarkdown': 65_536,
    '/data/workflowSourceRef': 4096,
    '/data/provenance/detail/probeTemplateId': 128,
    '/data/warnings/*/recommended': ANY_LENGTH,
    '/data/warnings/*/effective': ANY_LENGTH,
    '/data/reply/text/*': ANY_LENGTH,
    '/data/statement/comment': 4096,
    '/data/statement/checkId': 64,
    '/data/by/client/name': 128,
    '/data/by/client/version': 128,
    '/data/by/launch': 64,
    '/data/by/askedLaunch': 64,
    '/data/by/principal': 256,
  },
  emptyTexts: ['/data/reply/text/*', '/data/by/client/version'],
};

/** The optional fields of each kind of event; all others are required. */
export const OPTIONAL_EVENT_FIELDS: { readonly [kind in EventKind]: readonly string[] } = {
  session_created: ['/at'],
  observation_recorded: ['/at'],
  run_started: ['/at', '/data/sourceHash'],
  node_created: ['/at'],
  edge_created: ['/at'],
  advance_recorded: ['/at', '/data/outcome/blockers/*/details', '/data/outcome/blockers/*/suggestedFix'],
  node_output_appended: ['/at', '/data/supersedesOutputId'],
  preferences_changed: ['/at', '/data/warnings'],
  capability_observed: ['/at'],
  gap_recorded: ['/at', '/data/details', '/data/evidenceRefs'],
  divergence_recorded: ['/at', '/data/relatedStepId'],
  decision_trace_appended: ['/at', '/data/entries/*/refs'],
  context_set: ['/at'],
  step_skipped: ['/at', '/data/conditionId'],
  attestation_recorded: [
    '/at',
    '/data/by/client',
    '/data/by/principal',
    '/data/statement/base',
    '/data/statement/base/fixed',
    '/data/statement/base/tests',
    '/data/statement/comment',
    '/data/statement/headSha',
    '/data/statement/log',
    '/data/statement/tests',
    '/data/statement/treeDigest',
    '/data/statement/value',
  ],
};

export const MANIFEST_FIELDS: FieldRules = { opaque: [], nullable: [], texts: {}, emptyTexts: [] };

export const SNAPSHOT_FIELDS: FieldRules = {
  opaque: ['/enginePayload/state/loopStack/*/items'],
  nullable: [],
  texts: {},
  emptyTexts: [],
};

export const ERROR_FIELDS: FieldRules = {
  opaque: ['/details', '/nextCall/arguments'],
  nullable: [],
  texts: { '/message': 4096, '/suggestion': 4096, '/nextCall/tool': ANY_LENGTH },
  emptyTexts: [],
};
