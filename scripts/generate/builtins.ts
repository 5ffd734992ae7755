import type { Contract } from '../../src/core/workflow/builtins/contract.ts';
import { contracts } from '../../src/core/workflow/builtins/contracts.ts';
import {
  type Feature,
  type FeatureEffect,
  features,
  type StepSelector,
} from '../../src/core/workflow/builtins/features.ts';
import { type Ref, refs } from '../../src/core/workflow/builtins/refs.ts';
import { ANY_CASE, describeShape } from '../../src/core/workflow/builtins/shape.ts';
import { type BuiltinTemplate, templates } from '../../src/core/workflow/builtins/templates.ts';
import { cell } from './markdown.ts';

/** The built-ins as data, for editors and other programs. */
export function builtinsCatalogue(): string {
  const catalogue = {
    contracts: contracts.all.map(({ contractRef, artifactKind, purpose, guidance, rendererHint, example, shape }) => ({
      contractRef,
      artifactKind,
      purpose,
      guidance,
      rendererHint,
      example,
      schema: shape,
    })),
    features: features.all.map(({ featureId, purpose, effects, config }) => ({
      featureId,
      purpose,
      effects,
      ...(config && { config: { schema: config.shape, defaults: config.defaults } }),
    })),
    refs: refs.all,
    templates: templates.all,
  };
  return `${JSON.stringify(catalogue, null, 2)}\n`;
}

const INTRODUCTION = `# Built-ins

Generated from \`src/core/workflow/builtins\` by \`npm run generate\`; do not edit.

What a workflow file can refer to by name. These are closed sets: any other name is an error with the nearest known one
as the suggestion. A compiled workflow embeds the texts and schemas it uses, so a run keeps them when they change here.
The same as data: [builtins.json](../../schemas/builtins.json).`;

const CONTRACTS = `## Contracts

A step names one in \`outputContract.contractRef\`; the agent then has to send an artifact of the matching kind. The text
under each heading is what the agent reads, and the JSON below it is an artifact that is accepted. Unless said otherwise, a
field that is not listed is refused by name, and a listed word must be written as listed. The levels of an assessment are
those that the workflow declares; their case does not matter.`;

const FEATURES = `## Features

A workflow switches one on in \`features\`, by id or as \`{id, config}\`. A feature only adds the texts shown here.`;

const REFS = `## Refs

Prompt blocks include one as \`{"kind": "ref", "refId": …}\`. The text is inserted exactly as shown.`;

const TEMPLATES = `## Templates

A step calls one with \`templateCall: {templateId, args}\` and is replaced by the template's steps. Your own routines are
templates as well: \`team.routine-triage\` is called \`team.templates.routine.triage\`.`;

const SELECTED: { readonly [selector in StepSelector]: string } = {
  first: 'On the first step',
  last: 'On the last step',
  with_contract: 'On every step that requires an artifact',
  with_confirmation: 'On every step that asks for confirmation',
  delegating: 'On every step that delegates',
};

/** The reference of all built-ins. */
export function builtinsPage(): string {
  return `${[
    INTRODUCTION,
    CONTRACTS,
    ...contracts.all.flatMap(contractSection),
    FEATURES,
    ...features.all.flatMap(featureSection),
    REFS,
    ...refs.all.flatMap(refSection),
    TEMPLATES,
    ...templates.all.flatMap(templateSection),
  ].join('\n\n')}\n`;
}

function contractSection(contract: Contract): readonly string[] {
  const { contractRef, purpose, guidance, rendererHint, example, shape } = contract;
  const open = shape['additionalProperties'] === false ? '' : ' Further fields are accepted.';
  const words = JSON.stringify(shape).includes(`"${ANY_CASE}"`) ? ' The case of listed words does not matter.' : '';
  return [
    `### ${contractRef}`,
    `${purpose} Shown as: ${rendererHint}.${open}${words}`,
    fenced('text', guidance),
    fenced('json', JSON.stringify(example, null, 2)),
  ];
}

function featureSection({ featureId, purpose, effects, config }: Feature): readonly string[] {
  const settings =
    config === undefined
      ? []
      : [`Config: \`${describeShape(config.shape)}\`; defaults: \`${JSON.stringify(config.defaults)}\`.`];
  return [`### ${featureId}`, purpose, ...settings, ...effects.map(effectText)];
}

function effectText(effect: FeatureEffect): string {
  const where = effect.kind === 'standing_rule' ? 'As a rule of the workflow' : SELECTED[effect.steps];
  return `${where}:\n\n${quoted(effect.text)}`;
}

function refSection({ refId, purpose, text }: Ref): readonly string[] {
  return [`### ${refId}`, `For: ${purpose}`, quoted(text)];
}

function templateSection(template: BuiltinTemplate): readonly string[] {
  const rows = template.parameters.map(
    ({ name, purpose, values }) => `| \`${name}\` | ${cell(purpose)} | ${values?.join(', ') ?? 'any text'} |`,
  );
  const table = ['| Argument | Meaning | Values |', '|---|---|---|', ...rows].join('\n');
  return [`### ${template.templateId}`, template.purpose, table, ...templateSteps(template)];
}

function templateSteps(template: BuiltinTemplate): readonly string[] {
  if (template.kind === 'routine') {
    const path = `workflows/routines/${template.routineId}.json`;
    return [`Its steps are those of [${template.routineId}](../../${path}).`];
  }
  return [
    `Implies \`${template.contractRef}\`.`,
    ...Object.entries(template.steps).map(([value, { prompt }]) => `With \`${value}\`:\n\n${quoted(prompt)}`),
  ];
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}
