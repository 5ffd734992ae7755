import type { JsonObject } from '../../json/json-value.ts';
import { AUTONOMY, RISK_POLICY } from '../../log/autonomy.ts';
import { WORKFLOW_ENTRIES_MAX } from '../../log/budgets.ts';
import { features } from '../builtins/features.ts';
import type { SourceNode } from '../source/source-node.ts';
import { namedCondition } from './condition-fields.ts';
import * as f from './field.ts';
import { functionDefinitions } from './function-fields.ts';
import { ARGUMENT_BYTES_MAX, ARGUMENTS_MAX, ID_BYTES_MAX } from './limits.ts';
import { type Reader, reportError } from './reader.ts';
import { step } from './step-fields.ts';
import { mapObject } from './text-walk.ts';

const name = (role: 'assessment' | 'reference' | 'slot' | 'local') =>
  f.text(ID_BYTES_MAX, { use: 'label', form: 'plain_name', names: role });
const purpose = f.text(1024, { use: 'text' });
const standingTexts = f.list(f.text(256, { use: 'prompt' }));
const need = f.choice(['required', 'preferred', 'disabled']);

export const capabilities = f.closed('capabilities', {
  delegation: f.optional(need, 'Subagents. What is required is probed before the first step.'),
  web_browsing: f.optional(need, 'The web.'),
});

export const feature = f.closed('feature', {
  id: f.needed(f.text(ID_BYTES_MAX, { use: 'label', known: features.ids }), 'One of the bundled features.', {
    as: 'featureId',
  }),
  config: f.optional<JsonObject>(
    { data: { kind: 'json', use: 'value', only: 'object' } },
    'Its settings, where it has any.',
  ),
});

export type FeatureUse = f.Value<typeof feature> & { readonly idAt: string };

const featureName = f.text(ID_BYTES_MAX, { use: 'label', bytesMin: 0, known: features.ids });
const featureUse: f.Kind<FeatureUse> = f.built(
  f.either('the id of a feature or an object', featureName, feature),
  (read, { pointer }) =>
    typeof read === 'string' ? { at: pointer, idAt: pointer, featureId: read } : { ...read, idAt: `${pointer}/id` },
  (use, change) => mapObject(feature.data, use, change) as FeatureUse,
);

export const recommended = f.object('recommended', {
  recommendedAutonomy: f.optional(f.choice(AUTONOMY), 'The mode it is best run in.', { as: 'autonomy' }),
  recommendedRiskPolicy: f.optional(f.choice(RISK_POLICY), 'How much risk the agent may take.', { as: 'riskPolicy' }),
});

const levels = f.built(f.list(f.text(128, { use: 'label' }), { min: 2 }), checkLevels);

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

export const dimension = f.object('dimension', {
  id: f.needed(name('local'), 'Its name in the artifact.'),
  purpose: f.defaulted(purpose, 'What it is about; shown to the agent.', { otherwise: '' }),
  levels: f.needed(levels, 'Words to choose from, the lowest first.'),
  required: f.defaulted(f.flag, 'Whether it must be judged.', { as: 'isRequired', otherwise: true }),
});

export const assessment = f.object('assessment', {
  id: f.needed(name('assessment'), 'The name that steps refer to.'),
  purpose: f.defaulted(purpose, 'What is judged.', { otherwise: '' }),
  dimensions: f.needed(
    f.list(dimension, { min: 1, unique: { what: 'dimension', name: 'id' } }),
    'What is judged in particular.',
  ),
});

/** What may be put into an extension point. */
const SLOT_KINDS = ['text', 'routine', 'workflow'] as const;

export const extensionPoint = f.object('extensionPoint', {
  slotId: f.needed(
    name('slot'),
    'Used in texts as `{{wr.bindings.slotId}}`; a project replaces it in `.workrail/bindings.json`.',
  ),
  purpose: f.defaulted(f.text(1024, { use: 'never' }), 'What belongs there.', { otherwise: '' }),
  default: f.needed(f.text(ARGUMENT_BYTES_MAX, { use: 'never' }), 'What stands there unless a project replaces it.'),
  acceptedKinds: f.optionalList(f.list(f.choice(SLOT_KINDS)), 'What it may be replaced with; anything, if left out.'),
});

export const reference = f.object('reference', {
  id: f.needed(name('reference'), 'Its name in this file.'),
  title: f.needed(f.text(256, { use: 'label' }), 'What people see.'),
  source: f.needed(f.text(512, { use: 'label' }), 'A path or an address.'),
  purpose: f.defaulted(purpose, 'Why to read it.', { otherwise: '' }),
  authoritative: f.defaulted(f.flag, 'Whether it overrides what the agent believes.', {
    as: 'isAuthoritative',
    otherwise: false,
  }),
  resolveFrom: f.defaulted(f.choice(['workspace', 'package']), 'The project, or the folder of this file.', {
    otherwise: 'workspace',
  }),
});

export const argument = f.object('argument', {
  name: f.needed(
    f.text(ID_BYTES_MAX, { use: 'label', form: 'argument_name' }),
    'Stands in texts as `{name}`. When the routine is started directly, it is the context key of the value.',
  ),
  description: f.needed(
    f.text(120, { use: 'never' }),
    'What to give, in a few words; shown to authors of calls and in the form of the first step.',
  ),
  required: f.defaulted(f.flag, 'Whether a call must give it. Without a value, `(not given)` stands in the texts.', {
    as: 'isRequired',
    otherwise: true,
  }),
});

const EXAMPLES_MAX = 6;

export const workflow = f.object('workflow', {
  id: f.needed(
    f.text(ID_BYTES_MAX, { use: 'label', form: 'workflow_id' }),
    '`namespace.name`, each of lower-case letters, digits, `_` and `-`. The namespace `wr` is reserved for the bundle.',
    { otherwise: '' },
  ),
  name: f.needed(f.text(128, { use: 'label' }), 'What people see.', { otherwise: '' }),
  description: f.needed(f.text(512, { use: 'label' }), 'One sentence, by which agents choose.', { otherwise: '' }),
  version: f.label(
    f.optional(
      f.text(64, { use: 'never', form: 'version' }),
      'A semantic version. It is a label only: runs are pinned to the content.',
    ),
  ),
  about: f.label(f.optional(f.text(4096, { use: 'never' }), 'Markdown for people who choose a workflow.')),
  examples: f.label(
    f.optionalList(
      f.list(f.text(120, { use: 'never', bytesMin: 10 }), { min: 1, max: EXAMPLES_MAX }),
      'Goals as a user would type them.',
    ),
  ),
  tags: f.label(f.optionalList(f.list(f.text(64, { use: 'never' })), 'Free words for listing and filtering.')),
  agentRole: f.optional(
    f.text(1024, { use: 'prompt' }),
    'The stance of the agent, in every step that has none of its own.',
  ),
  capabilities: f.defaulted(f.unplaced(capabilities), 'What the agent needs.', { otherwise: {} }),
  features: f.optionalList(f.list(featureUse), 'Bundled texts to switch on, by id or as an object.'),
  conditions: f.optionalList(
    f.list(namedCondition, { unique: { what: 'condition', name: 'conditionId', key: 'id' } }),
    'Conditions with an `id`, for `{"kind": "condition_ref", "conditionId": …}`.',
  ),
  preconditions: f.optionalList(standingTexts, 'What must be true; shown at the start.'),
  clarificationPrompts: f.optionalList(
    standingTexts,
    'Questions to settle with the user; shown at the start. The arguments of a call answer those of a routine.',
  ),
  metaGuidance: f.optionalList(standingTexts, 'Standing rules; shown at the start and whenever an agent resumes.'),
  functionDefinitions: f.optionalList(functionDefinitions('workflow'), 'Texts with a name that steps refer to.', {
    as: 'functions',
  }),
  recommendedPreferences: f.defaulted(
    f.unplaced(recommended),
    'How it is best run. Starting it another way gives a warning and never blocks.',
    { as: 'recommended', otherwise: {} },
  ),
  assessments: f.optionalList(
    f.list(assessment, { unique: { what: 'assessment', name: 'id' } }),
    'What is judged, by which dimensions and levels.',
  ),
  extensionPoints: f.optionalList(
    f.list(extensionPoint, { unique: { what: 'extension point', name: 'slotId' } }),
    'Texts that a project may replace.',
  ),
  references: f.optionalList(
    f.list(reference, { unique: { what: 'reference', name: 'id' } }),
    'Documents that it points at.',
  ),
  arguments: f.optional(
    f.list(argument, { max: ARGUMENTS_MAX, unique: { what: 'argument', name: 'name' } }),
    'What a routine is called with. Only these names in single braces are filled in; other braces are text.',
  ),
  steps: f.needed(f.list(step, { min: 1, max: WORKFLOW_ENTRIES_MAX }), 'The steps, in order.', { otherwise: [] }),
  modelTier: f.optional(f.ignored, 'Accepted without effect.'),
  metricsProfile: f.optional(f.ignored, 'Accepted without effect.'),
  validatedAgainstSpecVersion: f.optional(f.ignored, 'Accepted without effect.'),
});

export type AssessmentSyntax = f.Value<typeof assessment>;
export type ExtensionPoint = f.Value<typeof extensionPoint>;
export type ReferenceSyntax = f.Value<typeof reference>;
/** The whole file in one tree, whichever spelling it uses. */
export type WorkflowSyntax = f.Value<typeof workflow>;
