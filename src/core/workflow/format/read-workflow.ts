import { AUTONOMY, RISK_POLICY } from '../../log/autonomy.ts';
import { CAPABILITIES } from '../../log/blockers.ts';
import { plainValue, type SourceNode, type SourceObject } from '../source/source-node.ts';
import { checkLoopDecisions } from './check-loop-decisions.ts';
import { KEYS } from './keys.ts';
import { EXAMPLES_MAX, LEGACY_ID, NAMESPACED_ID, SEMANTIC_VERSION, TEXT_LIMITS } from './limits.ts';
import { readNamedCondition } from './read-condition.ts';
import { readAssessments, readExtensionPoints, readReferences } from './read-declarations.ts';
import { readFunctions, settleFunctions } from './read-functions.ts';
import { idOf } from './read-names.ts';
import { readSteps } from './read-step.ts';
import {
  asObject,
  checkKeys,
  checkUnique,
  describe,
  field,
  type Reader,
  readChoice,
  readList,
  readText,
  readTexts,
  replaceWith,
  reportError,
  reportMissing,
  reportWarning,
  textOf,
} from './reader.ts';
import type { FeatureUse, WorkflowSyntax } from './syntax.ts';

export const REQUIREMENTS = ['required', 'preferred', 'disabled'] as const;

/** The whole file in one tree, whichever spelling it uses. What could not be read was reported and is left out. */
export function readWorkflow(reader: Reader): WorkflowSyntax | undefined {
  const object = asObject(reader, reader.root, 'A workflow file');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.workflow });
  const id = readWorkflowId(reader, object);
  const name = readText(reader, object, { name: 'name', bytesMax: TEXT_LIMITS.name, isRequired: true });
  const description = readText(reader, object, {
    name: 'description',
    bytesMax: TEXT_LIMITS.description,
    isRequired: true,
  });
  const version = readVersion(reader, object);
  const about = readText(reader, object, { name: 'about', bytesMax: TEXT_LIMITS.about });
  const agentRole = readText(reader, object, { name: 'agentRole', bytesMax: TEXT_LIMITS.agentRole });
  const rest = {
    at: object.pointer,
    examples: readExamples(reader, object),
    tags: readTexts(reader, object, { name: 'tags', bytesMax: TEXT_LIMITS.tag }),
    capabilities: readCapabilities(reader, field(object, 'capabilities')),
    features: readList(reader, object, 'features').flatMap((node) => readFeature(reader, node) ?? []),
    conditions: readConditions(reader, object),
    preconditions: readTexts(reader, object, { name: 'preconditions', bytesMax: TEXT_LIMITS.standingText }),
    clarificationPrompts: readTexts(reader, object, {
      name: 'clarificationPrompts',
      bytesMax: TEXT_LIMITS.standingText,
    }),
    metaGuidance: readTexts(reader, object, { name: 'metaGuidance', bytesMax: TEXT_LIMITS.standingText }),
    functions: readFunctions(reader, object, 'workflow'),
    recommended: readRecommended(reader, field(object, 'recommendedPreferences')),
    assessments: readAssessments(reader, object),
    extensionPoints: readExtensionPoints(reader, object),
    references: readReferences(reader, object),
    steps: readTopSteps(reader, object),
  };
  checkLoopDecisions(reader.uses, rest, reader.findings);
  return {
    ...rest,
    ...settleFunctions(reader, rest),
    // What is missing was reported; reading goes on, so that all that is wrong is told at once.
    id: id ?? '',
    name: name ?? '',
    description: description ?? '',
    ...(version === undefined ? {} : { version }),
    ...(about === undefined ? {} : { about }),
    ...(agentRole === undefined ? {} : { agentRole }),
  };
}

function readWorkflowId(reader: Reader, object: SourceObject): string | undefined {
  const node = field(object, 'id');
  if (node === undefined) return reportMissing(reader, object, 'id');
  const id = textOf(reader, node, { what: 'A workflow id', bytesMax: TEXT_LIMITS.id });
  if (id === undefined || NAMESPACED_ID.test(id)) return id;
  if (LEGACY_ID.test(id)) {
    const message = `"${id}" is an id of the old kind. It runs, but give it a namespace, like "project.${legacyName(id)}".`;
    reportWarning(reader, node, { code: 'legacy_id', message });
    return id;
  }
  const parts = id.toLowerCase().split('.').map(safePart);
  const safe = parts.length === 2 ? parts.join('.') : `project.${parts.join('_')}`;
  return reportError(reader, node, {
    code: 'bad_id',
    message: `A workflow id is "namespace.name" in lower-case letters, digits, "_" and "-", not ${describe(node)}.`,
    fix: NAMESPACED_ID.test(safe) ? replaceWith(node, safe) : undefined,
  });
}

/** The name part that a workflow of the old kind would have. */
export function legacyName(id: string): string {
  const name = id.toLowerCase().replaceAll('-', '_');
  return /^[a-z]/.test(name) ? name : `w_${name}`;
}

function safePart(part: string): string {
  return legacyName(
    part
      .normalize('NFKD')
      .replaceAll(/\p{M}|\p{Cf}/gu, '')
      .replaceAll(/[^a-z0-9_-]+/g, '_'),
  );
}

function readVersion(reader: Reader, object: SourceObject): string | undefined {
  const node = field(object, 'version');
  const version = readText(reader, object, { name: 'version', bytesMax: TEXT_LIMITS.version });
  if (node === undefined || version === undefined || SEMANTIC_VERSION.test(version)) return version;
  const meant = semanticVersion(version);
  return reportError(reader, node, {
    code: 'wrong_value',
    message: `"version" is written like 1.2.3, not ${describe(node)}.`,
    fix: meant === undefined ? undefined : replaceWith(node, meant),
  });
}

/** A version with what is usually left out or put before it. */
function semanticVersion(version: string): string | undefined {
  const [, numbers, label = ''] = /^[vV=]*(\d+(?:\.\d+){0,2})((?:[-+].*)?)$/.exec(version.trim()) ?? [];
  if (numbers === undefined) return undefined;
  const [major = 0, minor = 0, patch = 0] = numbers.split('.').map(Number);
  const meant = `${major}.${minor}.${patch}${label}`;
  return SEMANTIC_VERSION.test(meant) ? meant : undefined;
}

function readExamples(reader: Reader, object: SourceObject): readonly string[] {
  const nodes = readList(reader, object, 'examples');
  if (nodes.length > EXAMPLES_MAX) {
    const message = `"examples" lists ${nodes.length}; ${EXAMPLES_MAX} are enough for anyone to choose by.`;
    reportError(reader, nodes[EXAMPLES_MAX] ?? object, { code: 'wrong_value', message });
  }
  if (nodes.length === 0 && object.fields.has('examples')) {
    const message = 'Give at least one example, or leave "examples" out.';
    reportError(reader, field(object, 'examples') ?? object, { code: 'wrong_value', message });
  }
  return readTexts(reader, object, {
    name: 'examples',
    bytesMin: TEXT_LIMITS.exampleMin,
    bytesMax: TEXT_LIMITS.example,
  });
}

function readCapabilities(reader: Reader, node: SourceNode | undefined): WorkflowSyntax['capabilities'] {
  const object = node && asObject(reader, node, '"capabilities"');
  if (object === undefined) return {};
  checkKeys(reader, object, { keys: KEYS.capabilities, isClosed: true });
  const entries = CAPABILITIES.flatMap((name) => {
    const need = readChoice(reader, object, { name, choices: REQUIREMENTS });
    return need === undefined ? [] : [[name, need] as const];
  });
  return Object.fromEntries(entries);
}

/** A feature by its id, or with settings. */
function readFeature(reader: Reader, node: SourceNode): FeatureUse | undefined {
  if (node.kind === 'string') return { at: node.pointer, idAt: node.pointer, featureId: node.value };
  const object = asObject(reader, node, 'A feature');
  if (object === undefined) return undefined;
  checkKeys(reader, object, { keys: KEYS.feature, isClosed: true });
  const featureId = readText(reader, object, { name: 'id', bytesMax: TEXT_LIMITS.id, isRequired: true });
  const configNode = field(object, 'config');
  const config = configNode && asObject(reader, configNode, '"config"');
  if (featureId === undefined) return undefined;
  const settings = config && plainValue(config);
  return {
    at: object.pointer,
    idAt: `${object.pointer}/id`,
    featureId,
    ...(settings === undefined ? {} : { config: settings as NonNullable<FeatureUse['config']> }),
  };
}

function readConditions(reader: Reader, object: SourceObject): WorkflowSyntax['conditions'] {
  const found = readList(reader, object, 'conditions').flatMap((node) => readNamed(reader, node) ?? []);
  checkUnique(found, { what: 'condition', name: 'id' }, reader.findings);
  return found.map(({ id: _, ...condition }) => condition);
}

function readNamed(reader: Reader, node: SourceNode) {
  const object = asObject(reader, node, 'A named condition');
  const idNode = object && field(object, 'id');
  if (object === undefined) return undefined;
  if (idNode === undefined) return reportMissing(reader, object, 'id');
  const conditionId = idOf(reader, idNode, { what: 'A condition id', role: 'condition' });
  const condition = readNamedCondition(reader, object);
  // One that cannot be read stays by its name: what refers to it is not wrong for that.
  return conditionId === undefined
    ? undefined
    : { at: object.pointer, id: conditionId, conditionId, condition: condition ?? { kind: 'always' } };
}

function readRecommended(reader: Reader, node: SourceNode | undefined): WorkflowSyntax['recommended'] {
  const object = node && asObject(reader, node, '"recommendedPreferences"');
  if (object === undefined) return {};
  checkKeys(reader, object, { keys: KEYS.recommended });
  const autonomy = readChoice(reader, object, { name: 'recommendedAutonomy', choices: AUTONOMY });
  const riskPolicy = readChoice(reader, object, { name: 'recommendedRiskPolicy', choices: RISK_POLICY });
  return { ...(autonomy === undefined ? {} : { autonomy }), ...(riskPolicy === undefined ? {} : { riskPolicy }) };
}

function readTopSteps(reader: Reader, object: SourceObject): WorkflowSyntax['steps'] {
  if (!object.fields.has('steps')) {
    reportMissing(reader, object, 'steps');
    return [];
  }
  const nodes = readList(reader, object, 'steps');
  const list = field(object, 'steps');
  if (list?.kind === 'array' && nodes.length === 0) {
    reportError(reader, list, { code: 'wrong_value', message: 'A workflow needs at least one step.' });
  }
  return readSteps(reader, nodes);
}
