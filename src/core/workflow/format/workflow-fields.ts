import type { JsonObject } from '../../json/json-value.ts';
import { AUTONOMY, RISK_POLICY } from '../../log/autonomy.ts';
import { features } from '../builtins/registry.ts';
import type { SourceNode } from '../source/source-node.ts';
import { namedCondition } from './condition-fields.ts';
import {
  built,
  choice,
  defaulted,
  either,
  flag,
  ignored,
  type Kind,
  list,
  needed,
  object,
  optional,
  text,
  unplaced,
  type Value,
} from './field.ts';
import { functionDefinitions } from './function-fields.ts';
import { ARGUMENT_BYTES_MAX, ID_BYTES_MAX } from './limits.ts';
import { type Reader, reportError } from './reader.ts';
import { step } from './step-fields.ts';
import { mapObject } from './text-walk.ts';

const name = (role: 'assessment' | 'reference' | 'slot' | 'local') =>
  text(ID_BYTES_MAX, { use: 'label', form: 'plain_name', names: role });
const purpose = text(1024, { use: 'text' });
const standingTexts = list(text(256, { use: 'text' }));
const need = choice(['required', 'preferred', 'disabled']);

export const capabilities = object(
  'capabilities',
  {
    delegation: optional(need, 'Subagents. What is required is probed before the first step.'),
    web_browsing: optional(need, 'The web.'),
  },
  { isClosed: true },
);

export const feature = object(
  'feature',
  {
    id: needed(text(ID_BYTES_MAX, { use: 'label', known: features.ids }), 'One of the bundled features.', {
      as: 'featureId',
    }),
    config: optional<JsonObject>(
      { data: { kind: 'json', use: 'value', only: 'object' } },
      'Its settings, where it has any.',
    ),
  },
  { isClosed: true },
);

export type FeatureUse = Value<typeof feature> & { readonly idAt: string };

const featureName = text(ID_BYTES_MAX, { use: 'label', bytesMin: 0, known: features.ids });
const featureUse: Kind<FeatureUse> = built(
  either('the id of a feature or an object', featureName, feature),
  (read, { pointer }) =>
    typeof read === 'string' ? { at: pointer, idAt: pointer, featureId: read } : { ...read, idAt: `${pointer}/id` },
  (use, change) => mapObject(feature.data, use, change) as FeatureUse,
);

export const recommended = object('recommended', {
  recommendedAutonomy: optional(choice(AUTONOMY), 'The mode it is best run in.', { as: 'autonomy' }),
  recommendedRiskPolicy: optional(choice(RISK_POLICY), 'How much risk the agent may take.', { as: 'riskPolicy' }),
});

const levels = built(list(text(128, { use: 'label' }), { min: 2 }), checkLevels);

/** An agent may write a level in any case, so two of them must differ in more than that. */
function checkLevels(read: readonly string[], node: SourceNode, reader: Reader): readonly string[] {
  const seen = new Set<string>();
  for (const item of node.kind === 'array' ? node.items : []) {
    if (item.kind !== 'string') continue;
    const level = item.value.trim().toLowerCase();
    if (seen.has(level)) {
      const message = `The level "${item.value}" is already listed; upper and lower case count as the same. Rename or remove it.`;
      reportError(reader, item, { code: 'duplicate_id', message });
    }
    seen.add(level);
  }
  return read;
}

export const dimension = object('dimension', {
  id: needed(name('local'), 'Its name in the artifact.'),
  purpose: defaulted(purpose, 'What it is about; shown to the agent.', { otherwise: '' }),
  levels: needed(levels, 'Words to choose from, the lowest first.'),
  required: defaulted(flag, 'Whether it must be judged.', { as: 'isRequired', otherwise: true }),
});

export const assessment = object('assessment', {
  id: needed(name('assessment'), 'The name that steps refer to.'),
  purpose: defaulted(purpose, 'What is judged.', { otherwise: '' }),
  dimensions: needed(
    list(dimension, { min: 1, unique: { what: 'dimension', name: 'id' } }),
    'What is judged in particular.',
  ),
});

/** What may be put into an extension point. */
const SLOT_KINDS = ['text', 'routine', 'workflow'] as const;

export const extensionPoint = object('extensionPoint', {
  slotId: needed(
    name('slot'),
    'Used in texts as `{{wr.bindings.slotId}}`; a project replaces it in `.workrail/bindings.json`.',
  ),
  purpose: defaulted(text(1024, { use: 'never' }), 'What belongs there.', { otherwise: '' }),
  default: needed(text(ARGUMENT_BYTES_MAX, { use: 'never' }), 'What stands there unless a project replaces it.'),
  acceptedKinds: defaulted(list(choice(SLOT_KINDS)), 'What it may be replaced with; anything, if left out.', {
    otherwise: [],
  }),
});

export const reference = object('reference', {
  id: needed(name('reference'), 'Its name in this file.'),
  title: needed(text(256, { use: 'label' }), 'What people see.'),
  source: needed(text(512, { use: 'label' }), 'A path or an address.'),
  purpose: defaulted(purpose, 'Why to read it.', { otherwise: '' }),
  authoritative: defaulted(flag, 'Whether it overrides what the agent believes.', {
    as: 'isAuthoritative',
    otherwise: false,
  }),
  resolveFrom: defaulted(choice(['workspace', 'package']), 'The project, or the folder of this file.', {
    otherwise: 'workspace',
  }),
});

const EXAMPLES_MAX = 6;

export const workflow = object('workflow', {
  id: needed(
    text(ID_BYTES_MAX, { use: 'label', form: 'workflow_id' }),
    '`namespace.name`, each of lower-case letters, digits, `_` and `-`. The namespace `wr` is reserved for the bundle.',
    { otherwise: '' },
  ),
  name: needed(text(128, { use: 'label' }), 'What people see.', { otherwise: '' }),
  description: needed(text(512, { use: 'label' }), 'One sentence, by which agents choose.', { otherwise: '' }),
  version: optional(
    text(64, { use: 'never', form: 'version' }),
    'A semantic version. It is a label only: runs are pinned to the content.',
  ),
  about: optional(text(4096, { use: 'never' }), 'Markdown for people who choose a workflow.'),
  examples: defaulted(
    list(text(120, { use: 'never', bytesMin: 10 }), { min: 1, max: EXAMPLES_MAX }),
    'Goals as a user would type them.',
    { otherwise: [] },
  ),
  tags: defaulted(list(text(64, { use: 'never' })), 'Free words for listing and filtering.', { otherwise: [] }),
  agentRole: optional(text(1024, { use: 'text' }), 'The stance of the agent, in every step that has none of its own.'),
  capabilities: defaulted(unplaced(capabilities), 'What the agent needs.', { otherwise: {} }),
  features: defaulted(list(featureUse), 'Bundled texts to switch on, by id or as an object.', { otherwise: [] }),
  conditions: defaulted(
    list(namedCondition, { unique: { what: 'condition', name: 'conditionId', key: 'id' } }),
    'Conditions with an `id`, for `{"kind": "condition_ref", "conditionId": …}`.',
    { otherwise: [] },
  ),
  preconditions: defaulted(standingTexts, 'What must be true; shown at the start.', { otherwise: [] }),
  clarificationPrompts: defaulted(
    standingTexts,
    'Questions to settle with the user; shown at the start. The arguments of a call answer those of a routine.',
    { otherwise: [] },
  ),
  metaGuidance: defaulted(standingTexts, 'Standing rules; shown at the start and whenever an agent resumes.', {
    otherwise: [],
  }),
  functionDefinitions: defaulted(functionDefinitions('workflow'), 'Texts with a name that steps refer to.', {
    as: 'functions',
    otherwise: [],
  }),
  recommendedPreferences: defaulted(
    unplaced(recommended),
    'How it is best run. Starting it another way gives a warning and never blocks.',
    { as: 'recommended', otherwise: {} },
  ),
  assessments: defaulted(
    list(assessment, { unique: { what: 'assessment', name: 'id' } }),
    'What is judged, by which dimensions and levels.',
    { otherwise: [] },
  ),
  extensionPoints: defaulted(
    list(extensionPoint, { unique: { what: 'extension point', name: 'slotId' } }),
    'Texts that a project may replace.',
    { otherwise: [] },
  ),
  references: defaulted(
    list(reference, { unique: { what: 'reference', name: 'id' } }),
    'Documents that it points at.',
    { otherwise: [] },
  ),
  steps: needed(list(step, { min: 1 }), 'The steps, in order.', { otherwise: [] }),
  modelTier: optional(ignored, 'Accepted without effect.'),
  metricsProfile: optional(ignored, 'Accepted without effect.'),
  validatedAgainstSpecVersion: optional(ignored, 'Accepted without effect.'),
});

export type AssessmentSyntax = Value<typeof assessment>;
export type ExtensionPoint = Value<typeof extensionPoint>;
export type ReferenceSyntax = Value<typeof reference>;
/** The whole file in one tree, whichever spelling it uses. */
export type WorkflowSyntax = Value<typeof workflow>;
