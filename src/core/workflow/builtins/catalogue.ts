import { defined, type JsonObject, readableJson } from '../../json/json-value.ts';
import { CAPABILITIES, type Capability } from '../../log/blockers.ts';
import type { BuiltinData } from '../../wire/workflow-shapes.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { contracts } from './contracts.ts';
import { features } from './features.ts';
import { refs } from './refs.ts';
import { routineTemplateId, templates } from './templates.ts';

/** Everything of a workflow that may refer to a built-in. */
export type BuiltinUser = {
  readonly id: string;
  readonly kind: 'workflow' | 'routine';
  readonly name: string;
  readonly description: string;
  readonly workflow: CompiledWorkflow;
  /** The templates it calls. */
  readonly called: readonly string[];
};

type Builtin = Omit<BuiltinData, 'usedBy'>;

const CAPABILITY_PURPOSES: { readonly [capability in Capability]: string } = {
  delegation: 'The agent can start a second agent and give it a part of the work.',
  web_browsing: 'The agent can fetch pages of the web.',
};

/** The built-ins of the compiler and the routines of the workspace, each with what to write and who uses it. */
export function builtinList(users: readonly BuiltinUser[]): readonly BuiltinData[] {
  const known: readonly Builtin[] = [
    ...contracts.all.map(({ contractRef, purpose, guidance, rendererHint, example, shape }) => ({
      kind: 'contract' as const,
      id: contractRef,
      purpose,
      text: guidance,
      rendererHint,
      example,
      schema: shape as JsonObject,
      insert: written({ outputContract: { contractRef } }),
    })),
    ...features.all.map(({ featureId, purpose, effects, config }) => ({
      kind: 'feature' as const,
      id: featureId,
      purpose,
      text: effects.map(({ text }) => text).join('\n\n'),
      ...(config && { schema: config.shape as JsonObject, example: config.defaults }),
      insert: written(config === undefined ? featureId : { id: featureId, config: config.defaults }),
    })),
    ...refs.all.map(({ refId, purpose, text }) => ({
      kind: 'ref' as const,
      id: refId,
      purpose,
      text,
      insert: written({ kind: 'ref', refId }),
    })),
    ...templates.all.map(({ kind, templateId, purpose, parameters }) => ({
      kind: kind === 'routine' ? kind : ('template' as const),
      id: templateId,
      purpose,
      parameters: parameters.map(({ name, purpose: about, values }) => defined({ name, purpose: about, values })),
      insert: templateCall(
        templateId,
        parameters.map(({ name, values }) => [name, values?.[0] ?? '…']),
      ),
    })),
    ...users.filter(({ kind, id }) => kind === 'routine' && !isBuiltIn(id)).map(routineEntry),
    ...CAPABILITIES.map((capability) => ({
      kind: 'capability' as const,
      id: capability,
      purpose: CAPABILITY_PURPOSES[capability],
      insert: written({ capabilities: { [capability]: 'preferred' } }),
    })),
  ];
  return known.map((builtin) => ({
    ...builtin,
    usedBy: users.filter((user) => usedBuiltins(user).has(builtin.id)).map(({ id }) => id),
  }));
}

/** Bundled routines are templates of their own name. */
function isBuiltIn(id: string): boolean {
  return templates.find(routineTemplateId(id)) !== undefined;
}

function routineEntry({ id, description, workflow }: BuiltinUser): Builtin {
  const templateId = routineTemplateId(id);
  const parameters = (workflow.arguments ?? []).map(({ name, description: purpose }) => ({ name, purpose }));
  const insert = templateCall(
    templateId,
    parameters.map(({ name }) => [name, '…']),
  );
  return { kind: 'routine', id: templateId, purpose: description, parameters, insert };
}

function templateCall(templateId: string, args: readonly (readonly [string, string])[]): string {
  return written({ templateCall: { templateId, args: Object.fromEntries(args) } });
}

function written(value: unknown): string {
  return readableJson(value);
}

const used = new WeakMap<CompiledWorkflow, ReadonlySet<string>>();

function usedBuiltins({ workflow, called }: BuiltinUser): ReadonlySet<string> {
  const before = used.get(workflow);
  if (before !== undefined) return before;
  const found = new Set<string>([
    ...called,
    ...workflow.contracts.map(({ contractRef }) => contractRef),
    ...workflow.features.map(({ featureId }) => featureId),
    ...Object.keys(workflow.capabilities),
    ...workflow.steps.flatMap(({ refs: texts, provenance }) => [
      ...texts.map(({ refId }) => refId),
      ...(provenance.source === 'authored' ? [] : [provenance.originId]),
    ]),
  ]);
  used.set(workflow, found);
  return found;
}
